#!/usr/bin/env node
import { glibcMtraceDecode } from '../lib/cli/commands/formats.js'
import { main } from '../lib/cli/main.js'

await main(glibcMtraceDecode)
