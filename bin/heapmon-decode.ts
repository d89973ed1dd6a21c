#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('heapmon-decode', async () => (await import('../lib/cli/commands/formats.js')).heapmonDecode)
