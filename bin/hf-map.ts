#!/usr/bin/env node
import { map } from '../lib/cli/commands/map.js'
import { main } from '../lib/cli/main.js'

await main(map)
