#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

await start('hf-sort', async () => (await import('../lib/cli/commands/sort.js')).sort)
