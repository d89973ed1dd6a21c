#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-split', async () => (await import('../lib/cli/commands/split.js')).split)
