#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('metatf-decode', async () => (await import('../lib/cli/commands/metatf.js')).metatfDecode)
