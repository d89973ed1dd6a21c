#!/usr/bin/env node
import { glibcMtraceEncode } from '../lib/cli/commands/formats.js'
import { main } from '../lib/cli/main.js'

await main(glibcMtraceEncode)
