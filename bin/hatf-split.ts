#!/usr/bin/env node
import { hatfSplit } from '../lib/cli/commands/split-addresses.js'
import { main } from '../lib/cli/main.js'

await main(hatfSplit)
