import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { HatfDecoder, HatfEncoder } from '../../../lib/formats/hatf/index.js'
import { decodeAll, encodeAll, encodeEvents } from '../../support/drive.js'
import { runs } from '../../support/runs.js'
import { random, randomAll } from './random.js'
import { referenceEncode } from './reference.js'

const sizes = fc.constantFrom(1, 7, 64, undefined)

describe('what another writer may write', () => {
  it('is read with metadata of every sort in between, whatever the chunks', () => {
    const notMarked = random().filter(({ events }) => events.every((event) => isUnmarked(event)))
    fc.assert(
      fc.property(notMarked, fc.integer({ min: 1 }), sizes, ({ header, events }, seed, size) => {
        const decoded = decodeAll(new HatfDecoder(), referenceEncode(events, seed), size)
        expect(decoded.error).toBeUndefined()
        expect(decoded.headers).toEqual([header])
        expect(decoded.events).toEqual(events)
      }),
      { numRuns: runs(400) },
    )
  })
})

/** The reference encoder knows nothing of marks, and writes only well-formed text. */
function isUnmarked({ text, attributes }: TraceEvent): boolean {
  if (text?.startsWith('heapflow:{') || text?.isWellFormed() === false) return false
  return !Buffer.from(attributes ?? [])
    .toString()
    .startsWith('hf{')
}

describe('our own writing', () => {
  it('gives back the events that HATF can express', () => {
    fc.assert(
      fc.property(random(), sizes, ({ header, events }, size) => {
        const encoder = new HatfEncoder({ strict: true })
        const decoded = decodeAll(new HatfDecoder(), encodeEvents(encoder, events, header), size)
        expect(decoded.error).toBeUndefined()
        expect(decoded.events).toEqual(events)
        expect(encoder.losses.counts.size).toBe(0)
      }),
      { numRuns: runs(300) },
    )
  })

  it('writes the same bytes again', () => {
    fc.assert(
      fc.property(random(), ({ header, events }) => {
        const bytes = encodeEvents(new HatfEncoder(), events, header)
        expect(encodeAll(new HatfEncoder(), decodeAll(new HatfDecoder(), bytes).batches)).toEqual(bytes)
      }),
    )
  })

  it('keeps everything in attributes when asked to: all fields, kinds and headers', { tags: ['slow'] }, () => {
    fc.assert(
      fc.property(randomAll(), sizes, (traces, size) => {
        const encoder = new HatfEncoder({ attributes: true, strict: true })
        const bytes = encodeAll(
          encoder,
          traces.flatMap(({ header, events }) => batchesOf(events, header)),
        )
        const decoded = decodeAll(new HatfDecoder(), bytes, size)
        expect(decoded.error).toBeUndefined()
        expect(decoded.events).toEqual(traces.flatMap(({ events }) => events))
        expect(decoded.headers).toEqual(traces.map(({ header }) => header))
        expect(encoder.losses.counts.size).toBe(0)
      }),
      { numRuns: runs(150) },
    )
  })
})
