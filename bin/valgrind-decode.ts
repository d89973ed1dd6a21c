#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('valgrind-decode', async () => (await import('../lib/cli/commands/formats.js')).valgrindDecode)
