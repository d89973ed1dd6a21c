#!/usr/bin/env node
import { tracepointsDecode } from '../lib/cli/commands/formats.js'
import { main } from '../lib/cli/main.js'

await main(tracepointsDecode)
