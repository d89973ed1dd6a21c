#!/usr/bin/env node
import { mtrcEncode } from '../lib/cli/commands/formats.js'
import { main } from '../lib/cli/main.js'

await main(mtrcEncode)
