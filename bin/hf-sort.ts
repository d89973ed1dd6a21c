#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-sort', async () => (await import('../lib/cli/commands/sort.js')).sort)
