#!/usr/bin/env node
import { filter } from '../lib/cli/commands/filter.js'
import { main } from '../lib/cli/main.js'

await main(filter)
