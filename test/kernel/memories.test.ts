import { readdirSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import { decodeAny, filter, mtrc, ndjson, repair, replay, stats, valgrind, verify } from '../../lib/entry/index.js'
import { loadKernel, releaseKernel, type KernelExports } from '../../lib/kernel/load.js'
import { runs } from '../support/runs.js'

const KERNELS = readdirSync('dist/kernel')
  .filter((name) => name.endsWith('.wasm'))
  .map((name) => name.slice(0, -'.wasm'.length))

/** The memory of a kernel up to the last byte that is not 0. */
function contentOf(run: KernelExports): Buffer {
  const bytes = Buffer.from(run.memory.buffer.slice(0))
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  return bytes.subarray(0, end)
}

describe('a kernel that gets the memory of another one', () => {
  test.each(KERNELS)('%s: is as a new one', (name) => {
    const fresh = loadKernel(name)
    const before = contentOf(fresh)
    for (const other of ['live', 'valgrind', name]) {
      const run = loadKernel(other)
      new Uint8Array(run.memory.buffer).fill(0xa5)
      releaseKernel(run)
    }
    const again = loadKernel(name)
    // Either may have got a larger memory than it asked for.
    expect(contentOf(again).equals(before)).toBe(true)
    releaseKernel(fresh)
    releaseKernel(again)
  })

  test('gets it once, however often the other one is released', () => {
    const run = loadKernel('live')
    releaseKernel(run)
    releaseKernel(run)
    const two = [loadKernel('live'), loadKernel('live')]
    expect(two[0]!.memory).not.toBe(two[1]!.memory)
    two.forEach(releaseKernel)
  })
})

const EVENTS: TraceEvent[] = [
  { kind: 'alloc', index: 1n, address: 16n, size: 8n, thread: 1n },
  { kind: 'free', index: 1n, address: 16n, thread: 1n },
]
const DUMP = '1: malloc 0x10 8\n1: free 0x10\n'
const LOG = '--7-- malloc(24) = 0x4A2A040\n'

test('thousands of short pipelines take no more memory than a few', { tags: ['slow'], timeout: 300_000 }, async () => {
  const count = runs(20_000)
  let given = 0
  const sink = async (source: AsyncIterable<unknown>) => {
    for await (const _ of source) given++
  }
  for (let i = 0; i < count; i++) {
    const text = i % 2 === 0 ? DUMP : LOG
    const turn = i % 8
    if (turn === 0) await pipeline(Readable.from(EVENTS), mtrc.encode(), sink)
    else if (turn === 1) await pipeline(Readable.from(EVENTS), repair(), mtrc.encode(), sink)
    else if (turn === 2)
      await pipeline(
        Readable.from([Buffer.from(text)]),
        replay.decode(),
        filter({ lifetimes: true, thread: 1n }),
        ndjson.encode(),
        sink,
      )
    else if (turn === 3) await pipeline(Readable.from([Buffer.from(text)]), valgrind.decode(), verify(), sink)
    else if (turn === 4) await pipeline(Readable.from([Buffer.from(text)]), decodeAny(), stats())
    else if (turn === 5) {
      // Destroyed half-way.
      const decoder = Readable.from([Buffer.from(LOG)]).pipe(valgrind.decode())
      for await (const _ of decoder) break
    } else if (turn === 6) {
      await expect(pipeline(Readable.from([Buffer.from('MTRC')]), mtrc.decode(), sink)).rejects.toThrow(/truncated/)
    } else await pipeline(Readable.from([Buffer.from(text)]), decodeAny(), mtrc.encode(), sink)
  }
  expect(given).toBeGreaterThan(count / 8)
  if (count > 5000) expect(process.memoryUsage().rss).toBeLessThan(700_000_000)
})
