#!/usr/bin/env node
import { metatfEncode } from '../lib/cli/commands/metatf.js'
import { main } from '../lib/cli/main.js'

await main(metatfEncode)
