#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-check', async () => (await import('../lib/cli/commands/check.js')).check)
