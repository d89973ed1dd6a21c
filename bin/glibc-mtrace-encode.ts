#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('glibc-mtrace-encode', async () => (await import('../lib/cli/commands/formats.js')).glibcMtraceEncode)
