#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-replay', async () => (await import('../lib/cli/commands/replay.js')).replay)
