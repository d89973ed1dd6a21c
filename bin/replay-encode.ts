#!/usr/bin/env node
import { replayEncode } from '../lib/cli/commands/formats.js'
import { main } from '../lib/cli/main.js'

await main(replayEncode)
