#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-sql', async () => (await import('../lib/cli/commands/sql.js')).sql)
