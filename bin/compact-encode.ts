#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('compact-encode', async () => (await import('../lib/cli/commands/formats.js')).compactEncode)
