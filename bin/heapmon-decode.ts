#!/usr/bin/env node
import { heapmonDecode } from '../lib/cli/commands/formats.js'
import { main } from '../lib/cli/main.js'

await main(heapmonDecode)
