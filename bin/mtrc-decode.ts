#!/usr/bin/env node
import { mtrcDecode } from '../lib/cli/commands/formats.js'
import { main } from '../lib/cli/main.js'

await main(mtrcDecode)
