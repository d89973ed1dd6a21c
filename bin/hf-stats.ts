#!/usr/bin/env node
import { stats } from '../lib/cli/commands/stats.js'
import { main } from '../lib/cli/main.js'

await main(stats)
