#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-diff', async () => (await import('../lib/cli/commands/diff.js')).diff)
