#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-merge', async () => (await import('../lib/cli/commands/merge.js')).merge)
