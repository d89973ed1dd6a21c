#!/usr/bin/env node
import { split } from '../lib/cli/commands/split.js'
import { main } from '../lib/cli/main.js'

await main(split)
