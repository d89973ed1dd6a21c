#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('hf-map', async () => (await import('../lib/cli/commands/map.js')).map)
