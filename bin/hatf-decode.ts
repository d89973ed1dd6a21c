#!/usr/bin/env node
import { hatfDecode } from '../lib/cli/commands/formats.js'
import { main } from '../lib/cli/main.js'

await main(hatfDecode)
