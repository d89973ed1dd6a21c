#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-symbolize', async () => (await import('../lib/cli/commands/symbolize.js')).symbolize)
