#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-report', async () => (await import('../lib/cli/commands/report.js')).report)
