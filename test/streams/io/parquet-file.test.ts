import { readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { batchesOf } from '../../../lib/event/batch.js'
import { filterFile, merge } from '../../../lib/entry/index.js'
import { ParquetEncoder } from '../../../lib/formats/parquet/encode.js'
import { openTrace } from '../../../lib/streams/io/open-trace.js'
import { scratch } from '../../support/commands.js'
import { encodeAll } from '../../support/drive.js'

const COUNT = 60_000
const small = batchesOf([{ kind: 'alloc', time: 0n, address: 1n, size: 2n }])
const many = batchesOf(
  Array.from(
    { length: COUNT },
    (_, i) => ({ kind: 'alloc', time: BigInt(i), address: BigInt(i) * 7919n, size: BigInt(i % 977) }) as const,
  ),
)

/** How many descriptors of a file are open, when what closes them in the background is done. */
async function openOf(path: string): Promise<number> {
  const count = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === path
      } catch {
        return false
      }
    }).length
  for (let i = 0; i < 50 && count() > 0; i++) await new Promise((resolve) => setTimeout(resolve, 10))
  return count()
}

const ways: Record<string, (path: string) => Promise<unknown>> = {
  'close()': async (path) => {
    const trace = openTrace(path)
    await trace.batches.next()
    await trace.close()
  },
  'close() twice, while a batch is read': async (path) => {
    const trace = openTrace(path)
    const next = trace.batches.next().catch(() => {})
    await Promise.all([trace.close(), trace.close(), next])
  },
  'an abort between two batches': async (path) => {
    const aborter = new AbortController()
    const trace = openTrace(path, { signal: aborter.signal })
    await trace.batches.next()
    await trace.batches.next()
    aborter.abort()
    await expect(trace.batches.next()).rejects.toMatchObject({ name: 'AbortError' })
  },
  'an abort after which nothing is asked for': async (path) => {
    const aborter = new AbortController()
    const trace = openTrace(path, { signal: aborter.signal })
    await trace.batches.next()
    aborter.abort()
  },
  'the end of a block': async (path) => {
    const trace = openTrace(path)
    await trace.batches.next()
    await trace[Symbol.asyncDispose]()
  },
  break: async (path) => {
    for await (const batch of openTrace(path)) if (batch.count >= 0) break
  },
  'merge(...).destroy()': async (path) => {
    const stream = merge(path)
    await new Promise((resolve) => stream.once('data', resolve))
    stream.destroy()
  },
  'filterFile(...).destroy()': async (path) => {
    const stream = filterFile(path, { kind: ['alloc'] })
    await new Promise((resolve) => stream.once('data', resolve))
    stream.destroy()
  },
  'filterFile(...).destroy() with two passes': async (path) => {
    const stream = filterFile(path, { leaked: true })
    await new Promise((resolve) => stream.once('data', resolve))
    stream.destroy()
  },
}

test.runIf(process.platform === 'linux').each(Object.entries(ways))(
  'a Parquet file is closed by %s',
  async (_, read) => {
    for (const batches of [small, many]) {
      const path = join(scratch(), 't.parquet')
      writeFileSync(path, encodeAll(new ParquetEncoder(), batches))
      for (let i = 0; i < 3; i++) await read(path)
      expect(await openOf(path)).toBe(0)
    }
  },
)
