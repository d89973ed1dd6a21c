#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-view', async () => (await import('../lib/cli/commands/view.js')).view)
