#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-convert', async () => (await import('../lib/cli/commands/convert.js')).convert)
