#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('heaptrack-encode', async () => (await import('../lib/cli/commands/formats.js')).heaptrackEncode)
