#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('arrow-decode', async () => (await import('../lib/cli/commands/formats.js')).arrowDecode)
