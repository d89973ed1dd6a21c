import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { MtrcDecoder, MtrcEncoder } from '../../../lib/formats/mtrc/index.js'
import { decodeAll, encodeAll, encodeEvents } from '../../support/drive.js'
import { random, randomStream } from './random.js'

describe('any trace', () => {
  it('comes back as it was, in chunks of any size', () => {
    fc.assert(
      fc.property(random(), fc.integer({ min: 1, max: 300 }), ({ header, events }, size) => {
        const bytes = encodeEvents(new MtrcEncoder({ strict: true }), events, header)
        const decoder = new MtrcDecoder()
        const decoded = decodeAll(decoder, bytes, size)
        expect(decoded.error).toBeUndefined()
        expect(decoded.events).toEqual(events)
        expect(decoded.headers).toEqual([header])
        expect(decoder.warnings).toEqual([])
      }),
    )
  })

  it('gives the same bytes again, resolved or not', () => {
    fc.assert(
      fc.property(random(), fc.boolean(), fc.integer({ min: 1, max: 300 }), ({ header, events }, resolve, size) => {
        const bytes = encodeEvents(new MtrcEncoder(), events, header)
        const { batches } = decodeAll(new MtrcDecoder({ resolve }), bytes, size)
        expect(encodeAll(new MtrcEncoder({ strict: true }), batches)).toEqual(bytes)
      }),
    )
  })

  it('may be followed by others', () => {
    fc.assert(
      fc.property(randomStream(), fc.integer({ min: 1, max: 300 }), (traces, size) => {
        const batches = traces.flatMap(({ events, header }) => batchesOf(events, header))
        const bytes = encodeAll(new MtrcEncoder({ strict: true }), batches)
        const decoder = new MtrcDecoder()
        const decoded = decodeAll(decoder, bytes, size)
        expect(decoded.error).toBeUndefined()
        expect(decoded.headers).toEqual(traces.map(({ header }) => header))
        expect(decoded.events).toEqual(traces.flatMap(({ events }) => events))
        expect(decoder.warnings).toHaveLength(traces.filter(({ header }) => header.layout?.follows === 'cut').length)
        expect(encodeAll(new MtrcEncoder({ strict: true }), decoded.batches)).toEqual(bytes)
      }),
    )
  })
})

/** A decoded event with only what events from elsewhere had. */
function asGiven({ kind, address, oldAddress, size }: TraceEvent): object {
  return { kind, address, ...(oldAddress !== undefined && { oldAddress }), size }
}

describe('any blocks from elsewhere', () => {
  const address = fc.bigInt({ min: 1n, max: 9n })
  const event = fc.oneof(
    fc.record({ kind: fc.constant('alloc' as const), address, size: address }),
    fc.record({ kind: fc.constant('realloc' as const), address, oldAddress: address, size: address }),
    fc.record({ kind: fc.constant('free' as const), address }),
  )

  it('are found again by their address', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events: TraceEvent[]) => {
        // Which block is live where, as the trace says it; a block that another one is put on top of is lost sight of.
        const live = new Map<bigint, bigint>()
        const expected: object[] = []
        for (const { kind, address = 0n, oldAddress = 0n, size } of events) {
          if (kind === 'free') {
            if (live.has(address)) expected.push({ kind, address, size: live.get(address) })
            live.delete(address)
          } else {
            const known = live.delete(oldAddress)
            expected.push(known ? { kind, address, oldAddress, size } : { kind: 'alloc', address, size })
            live.set(address, size as bigint)
          }
        }
        const { events: decoded } = decodeAll(
          new MtrcDecoder(),
          encodeEvents(new MtrcEncoder(), events, { format: 'replay' }),
        )
        expect(decoded.map(asGiven)).toEqual(expected)
      }),
    )
  })
})
