#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('kmemtrace-decode', async () => (await import('../lib/cli/commands/kmemtrace.js')).kmemtraceDecode)
