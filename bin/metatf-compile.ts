#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

await start('metatf-compile', async () => (await import('../lib/cli/commands/metatf-compile.js')).metatfCompile)
