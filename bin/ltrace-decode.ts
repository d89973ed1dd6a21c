#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('ltrace-decode', async () => (await import('../lib/cli/commands/formats.js')).ltraceDecode)
