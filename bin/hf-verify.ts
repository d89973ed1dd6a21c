#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-verify', async () => (await import('../lib/cli/commands/verify.js')).verify)
