#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('replay-decode', async () => (await import('../lib/cli/commands/formats.js')).replayDecode)
