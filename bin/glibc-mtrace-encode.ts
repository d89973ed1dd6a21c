#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

await start('glibc-mtrace-encode', async () => (await import('../lib/cli/commands/formats.js')).glibcMtraceEncode)
