#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

await start('hf-report', async () => (await import('../lib/cli/commands/report.js')).report)
