#!/usr/bin/env node
import { metatfDecode } from '../lib/cli/commands/metatf.js'
import { main } from '../lib/cli/main.js'

await main(metatfDecode)
