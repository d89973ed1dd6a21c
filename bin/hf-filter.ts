#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-filter', async () => (await import('../lib/cli/commands/filter.js')).filter)
