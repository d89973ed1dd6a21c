#!/usr/bin/env node
import { kmemtraceEncode } from '../lib/cli/commands/kmemtrace.js'
import { main } from '../lib/cli/main.js'

await main(kmemtraceEncode)
