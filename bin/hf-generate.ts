#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-generate', async () => (await import('../lib/cli/commands/generate.js')).generate)
