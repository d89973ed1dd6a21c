#!/usr/bin/env node
import { heapmonEncode } from '../lib/cli/commands/formats.js'
import { main } from '../lib/cli/main.js'

await main(heapmonEncode)
