#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('metatf-encode', async () => (await import('../lib/cli/commands/metatf.js')).metatfEncode)
