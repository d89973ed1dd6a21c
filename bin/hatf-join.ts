#!/usr/bin/env node
import { hatfJoin } from '../lib/cli/commands/split-addresses.js'
import { main } from '../lib/cli/main.js'

await main(hatfJoin)
