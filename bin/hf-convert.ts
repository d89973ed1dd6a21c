#!/usr/bin/env node
import { convert } from '../lib/cli/commands/convert.js'
import { main } from '../lib/cli/main.js'

await main(convert)
