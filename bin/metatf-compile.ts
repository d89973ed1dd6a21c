#!/usr/bin/env node
import { metatfCompile } from '../lib/cli/commands/metatf-compile.js'
import { main } from '../lib/cli/main.js'

await main(metatfCompile)
