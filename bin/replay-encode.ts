#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

await start('replay-encode', async () => (await import('../lib/cli/commands/formats.js')).replayEncode)
