// @module-tag slow
import { createWriteStream, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect, test } from 'vitest'
import { scratch, shell } from '../../support/commands.js'
import { peak } from '../../support/peak.js'

const EVENTS = 20_000_000
const LIMIT = 160_000_000

/** A dump of memory_replay in which some thousand blocks are live. */
function* dump(): Generator<string> {
  let text = ''
  for (let i = 0; i < EVENTS / 2; i++) {
    const block = (0x5500_0000 + (i % 5000) * 4096).toString(16)
    if (i >= 5000) text += `${(i % 7) + 1}: free 0x${block}\n`
    text += `${(i % 9) + 1}: malloc 0x${block} ${(i * 7919) % 100_003}\n`
    if (text.length > 60_000) {
      yield text
      text = ''
    }
  }
  yield `${text}${Array.from({ length: 5000 }, (_, i) => `1: free 0x${(0x5500_0000 + i * 4096).toString(16)}\n`).join('')}`
}

interface Figures {
  readonly events: number
  readonly kinds: Record<string, number>
  readonly allocated: { readonly blocks: number; readonly bytes: number }
  readonly threads: readonly { readonly thread: number; readonly allocated: { readonly bytes: number } }[]
}

const title = `${EVENTS} events within ${LIMIT} bytes: DuckDB has the figures of hf-stats`

test(title, { tags: ['large'], timeout: 600_000 }, async () => {
  const folder = scratch()
  const [trace, file] = [join(folder, 't.txt.gz'), join(folder, 't.parquet')]
  await pipeline(Readable.from(dump()), createGzip({ level: 1 }), createWriteStream(trace))
  const most = await peak(`parquet-encode -o ${file}`, trace)
  expect(most).toBeGreaterThan(20_000_000)
  expect(most).toBeLessThan(LIMIT)
  expect(statSync(file).size).toBeGreaterThan(EVENTS)

  const stats = JSON.parse((await shell(`hf-stats --json ${trace}`)).stdout.toString()) as Figures
  expect(stats.events).toBe(EVENTS)
  const connection = await (await DuckDBInstance.create()).connect()
  const query = async (sql: string) => (await connection.runAndReadAll(sql)).getRows()
  const kinds = await query(`select kind, count(*) from '${file}' group by kind`)
  expect(Object.fromEntries(kinds.map(([kind, n]) => [kind, Number(n)]))).toEqual(stats.kinds)
  const [all] = await query(`select count(size), sum(size) from '${file}' where kind <> 'free'`)
  expect(all?.map(Number)).toEqual([stats.allocated.blocks, stats.allocated.bytes])
  const threads = await query(`select thread, sum(size) from '${file}' where kind <> 'free' group by thread`)
  expect(Object.fromEntries(threads.map(([thread, sum]) => [Number(thread), Number(sum)]))).toEqual(
    Object.fromEntries(stats.threads.map(({ thread, allocated }) => [thread, allocated.bytes])),
  )
  connection.closeSync()
})
