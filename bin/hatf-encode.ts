#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

await start('hatf-encode', async () => (await import('../lib/cli/commands/formats.js')).hatfEncode)
