#!/usr/bin/env node
import { kmemtraceDecode } from '../lib/cli/commands/kmemtrace.js'
import { main } from '../lib/cli/main.js'

await main(kmemtraceDecode)
