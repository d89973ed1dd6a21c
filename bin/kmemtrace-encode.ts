#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

await start('kmemtrace-encode', async () => (await import('../lib/cli/commands/kmemtrace.js')).kmemtraceEncode)
