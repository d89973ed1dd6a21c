#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

await start('metatf-encode', async () => (await import('../lib/cli/commands/metatf.js')).metatfEncode)
