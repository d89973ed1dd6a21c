#!/usr/bin/env node
import { start } from '../lib/cli/start.js'

await start('parquet-decode', async () => (await import('../lib/cli/commands/formats.js')).parquetDecode)
