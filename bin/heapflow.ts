#!/usr/bin/env node
import { runSubcommand } from '../lib/cli/heapflow.js'

await runSubcommand()
