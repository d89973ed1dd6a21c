#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hatf-encode', async () => (await import('../lib/cli/commands/formats.js')).hatfEncode)
