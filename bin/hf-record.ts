#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-record', async () => (await import('../lib/cli/commands/record.js')).record)
