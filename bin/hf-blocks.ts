#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-blocks', async () => (await import('../lib/cli/commands/blocks.js')).blocks)
