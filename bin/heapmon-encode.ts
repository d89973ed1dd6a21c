#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('heapmon-encode', async () => (await import('../lib/cli/commands/formats.js')).heapmonEncode)
