#!/usr/bin/env node
import { runSubcommand } from '../lib/cli/hf.js'

await runSubcommand()
