#!/usr/bin/env node
import { verify } from '../lib/cli/commands/verify.js'
import { main } from '../lib/cli/main.js'

await main(verify)
