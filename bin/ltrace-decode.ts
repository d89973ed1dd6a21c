#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

await start('ltrace-decode', async () => (await import('../lib/cli/commands/formats.js')).ltraceDecode)
