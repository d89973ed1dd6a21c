#!/usr/bin/env node
import { merge } from '../lib/cli/commands/merge.js'
import { main } from '../lib/cli/main.js'

await main(merge)
