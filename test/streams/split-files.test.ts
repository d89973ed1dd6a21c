// @module-tag slow
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { expect, it } from 'vitest'
import { batchesOf, type TraceEvent } from '../../lib/event/batch.js'
import * as ndjson from '../../lib/entry/ndjson.js'
import { SplitFiles } from '../../lib/entry/stages.js'
import { scratch } from '../support/commands.js'

it('touches neither the batches nor what the encoders made of them, unless it may use their memory again', async () => {
  const events = Array.from({ length: 40_000 }, (_, i): TraceEvent => ({
    kind: 'alloc',
    thread: BigInt(i % 3),
    address: BigInt(i),
    size: 16n,
  }))
  const batches = batchesOf(events, { format: 'test' })
  const folder = scratch()
  const kept: { chunk: Uint8Array; copy: Uint8Array }[] = []
  const sink = new SplitFiles({
    by: 'thread',
    path: (key) => join(folder, key),
    encoder: () => {
      const encoder = ndjson.format.encoder()
      const next = encoder.next.bind(encoder)
      encoder.next = () => {
        const chunk = next()
        if (chunk !== null) kept.push({ chunk, copy: chunk.slice() })
        return chunk
      }
      return encoder
    },
  })
  await pipeline(Readable.from(batches), sink)
  expect(kept.length).toBeGreaterThan(20)
  expect(kept.every(({ chunk, copy }) => Buffer.compare(chunk, copy) === 0)).toBe(true)
  expect(batches.flatMap((batch) => [...batch])).toEqual(events)
})

it('refuses one name for two parts, of which only one would be left', async () => {
  const folder = scratch()
  const sink = new SplitFiles({
    by: 'thread',
    path: () => join(folder, 'all'),
    encoder: () => ndjson.format.encoder(),
  })
  const events: TraceEvent[] = [
    { kind: 'free', thread: 1n },
    { kind: 'free', thread: 2n },
  ]
  await expect(pipeline(Readable.from(events), sink)).rejects.toThrow(/path gives ".*all" for several parts/)
  expect(readdirSync(folder)).toEqual([])
})
