#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('heaptrack-decode', async () => (await import('../lib/cli/commands/formats.js')).heaptrackDecode)
