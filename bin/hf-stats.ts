#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-stats', async () => (await import('../lib/cli/commands/stats.js')).stats)
