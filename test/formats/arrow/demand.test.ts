import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newChunk, recycleChunk } from '../../../lib/bytes/chunks.js'
import { Demand, state } from '../../../lib/bytes/demand.js'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { recycle } from '../../../lib/event/recycle.js'
import { ArrowDecoder } from '../../../lib/formats/arrow/decode.js'
import { runs } from '../../support/runs.js'
import { encodeBatches } from './support.js'

const EVENTS: readonly TraceEvent[] = Array.from({ length: 4500 }, (_, i) => ({
  kind: i % 3 === 2 ? 'free' : 'alloc',
  thread: BigInt(i & 7),
  address: 0x7f00_0000_0000n + BigInt(16 * i),
  ...(i % 3 !== 2 && { size: BigInt(i), function: `f${i % 50}` }),
}))
const BYTES = encodeBatches(batchesOf(EVENTS, { format: 'mtrc' }))

/**
 * Decodes as a source of pieces does it that reads what is asked for to where it belongs, or a part of it, and whose
 * chunks and batches are used again.
 */
function decodeAsked(lengths: () => number): { events: TraceEvent[]; asked: number } {
  const decoder = new ArrowDecoder()
  const demand = new Demand()
  const events: TraceEvent[] = []
  let asked = 0
  let last: Uint8Array | undefined
  const take = () => {
    for (let batch = decoder.next(); batch !== null; batch = decoder.next()) {
      events.push(...batch)
      recycle(batch)
    }
  }
  for (let at = 0; at < BYTES.length;) {
    const { target } = demand
    demand.target = undefined
    const length = Math.min(BYTES.length - at, target === undefined ? lengths() : Math.min(lengths(), target.length))
    const chunk = target === undefined ? newChunk(length) : target.subarray(0, length)
    if (target !== undefined) asked++
    chunk.set(BYTES.subarray(at, at + length))
    at += length
    decoder.feed(state(chunk, demand))
    if (last !== undefined) {
      const mark = last.slice().fill(0xa5)
      // What was recycled is someone else's: unless the decoder still reads it, other bytes are there now.
      recycleChunk(last)
      const other = newChunk(mark.length)
      if (other.buffer === last.buffer) other.set(mark)
      recycleChunk(other)
    }
    last = chunk
    take()
  }
  decoder.end()
  take()
  return { events, asked }
}

test('the rest of a body may be read to where it belongs, wholly or in parts', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 200_000 }), { minLength: 1, maxLength: 20 }), (lengths) => {
      let i = 0
      const { events } = decodeAsked(() => lengths[i++ % lengths.length] as number)
      expect(events).toEqual(EVENTS)
    }),
    { numRuns: runs(6) },
  )
})

test('a pipe is asked for what is missing of each large body', () => {
  const { events, asked } = decodeAsked(() => 65_536)
  expect(events).toEqual(EVENTS)
  expect(asked).toBeGreaterThan(1)
})
