#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hatf-join', async () => (await import('../lib/cli/commands/split-addresses.js')).hatfJoin)
