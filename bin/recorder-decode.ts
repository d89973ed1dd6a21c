#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('recorder-decode', async () => (await import('../lib/cli/commands/formats.js')).recorderDecode)
