#!/usr/bin/env node
import { replayDecode } from '../lib/cli/commands/formats.js'
import { main } from '../lib/cli/main.js'

await main(replayDecode)
