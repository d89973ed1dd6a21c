#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

await start('heapmon-encode', async () => (await import('../lib/cli/commands/formats.js')).heapmonEncode)
