#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('heapflow', async () => (await import('../lib/cli/heapflow.js')).heapflow)
