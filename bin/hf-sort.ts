#!/usr/bin/env node
import { sort } from '../lib/cli/commands/sort.js'
import { main } from '../lib/cli/main.js'

await main(sort)
