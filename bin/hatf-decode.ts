#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hatf-decode', async () => (await import('../lib/cli/commands/formats.js')).hatfDecode)
