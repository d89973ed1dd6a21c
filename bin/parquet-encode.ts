#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

await start('parquet-encode', async () => (await import('../lib/cli/commands/formats.js')).parquetEncode)
