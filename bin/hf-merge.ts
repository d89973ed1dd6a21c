#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

await start('hf-merge', async () => (await import('../lib/cli/commands/merge.js')).merge)
