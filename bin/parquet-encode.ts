#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

void start('parquet-encode', async () => (await import('../lib/cli/commands/formats.js')).parquetEncode)
