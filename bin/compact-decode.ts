#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('compact-decode', async () => (await import('../lib/cli/commands/formats.js')).compactDecode)
