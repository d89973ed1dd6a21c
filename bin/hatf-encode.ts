#!/usr/bin/env node
import { hatfEncode } from '../lib/cli/commands/formats.js'
import { main } from '../lib/cli/main.js'

await main(hatfEncode)
