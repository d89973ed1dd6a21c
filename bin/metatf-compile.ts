#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('metatf-compile', async () => (await import('../lib/cli/commands/metatf-compile.js')).metatfCompile)
