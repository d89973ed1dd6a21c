#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-simulate', async () => (await import('../lib/cli/commands/simulate.js')).simulate)
