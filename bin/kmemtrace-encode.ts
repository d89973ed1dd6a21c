#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('kmemtrace-encode', async () => (await import('../lib/cli/commands/kmemtrace.js')).kmemtraceEncode)
