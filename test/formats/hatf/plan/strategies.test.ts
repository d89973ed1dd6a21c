// @module-tag slow
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../../../lib/event/batch.js'
import { batchesOf } from '../../../../lib/event/batch.js'
import {
  HatfDecoder,
  HatfEncoder,
  PRESETS,
  strategiesOf,
  strategyNames,
  type HatfEncodeOptions,
  type Strategies,
} from '../../../../lib/formats/hatf/index.js'
import { WINDOW_RECORDS } from '../../../../lib/formats/hatf/records.js'
import { decodeAll, drive, encodeAll, encodeEvents } from '../../../support/drive.js'
import { runs } from '../../../support/runs.js'
import { PLAIN } from '../bytes.js'
import { random, randomAll, randomRuns } from '../random.js'

const header = { format: 'hatf' }
const FIELDS = ['size', 'address', 'time', 'thread', 'heap', 'attributes'] as const
const plain = strategiesOf(PLAIN)

/** Every strategy of every field, the others plain. */
const each = FIELDS.flatMap((field) =>
  strategyNames(field).map((name): [string, Strategies] => [`${field}: ${name}`, { ...plain, [field]: name }]),
)

const anyStrategies = fc.record(
  Object.fromEntries(FIELDS.map((field) => [field, fc.constantFrom(...strategyNames(field))])) as unknown as Record<
    keyof Strategies,
    fc.Arbitrary<never>
  >,
) as fc.Arbitrary<Strategies>
const anyWindow = fc.constantFrom(1, 2, 3, 10, 64, undefined)
const anyTrace = fc.oneof(randomRuns(), random())

/** Strategies as the options that choose them. */
const encodings = ({ size, address, time, thread, heap, attributes }: Strategies): HatfEncodeOptions => ({
  sizeEncoding: size,
  addressEncoding: address,
  timeEncoding: time,
  threadEncoding: thread,
  heapEncoding: heap,
  attributesEncoding: attributes,
})

/** An encoder with windows of its own size. */
const encoderOf = (strategies: Strategies, window?: number, options: HatfEncodeOptions = {}) =>
  new HatfEncoder({ ...options, ...encodings(strategies), ...(window !== undefined && { window }) })

/** Events in batches of these sizes, over and over. */
function cut(events: readonly TraceEvent[], sizes: readonly number[]) {
  const parts: TraceEvent[][] = []
  for (let i = 0, k = 0; i < events.length; k++) {
    const size = sizes[k % sizes.length]
    parts.push(events.slice(i, (i += size)))
  }
  return parts.flatMap((part) => batchesOf(part, header))
}

describe('every strategy', () => {
  it.each(each)('%s: gives back the events', (_, strategies) => {
    fc.assert(
      fc.property(anyTrace, anyWindow, ({ events }, window) => {
        const decoded = decodeAll(new HatfDecoder(), encodeEvents(encoderOf(strategies, window), events, header))
        expect(decoded.error).toBeUndefined()
        expect(decoded.events).toEqual(events)
      }),
      { numRuns: runs(60) },
    )
  })

  it.each(each)('%s: never takes more than plain storing does, whatever the windows', (_, strategies) => {
    fc.assert(
      fc.property(anyTrace, anyWindow, ({ events }, window) => {
        const { length } = encodeEvents(encoderOf(strategies, window), events, header)
        const isSingle = strategies.thread === 'single' || strategies.heap === 'single'
        // A default that had to be given up cost its metadata, once.
        expect(length).toBeLessThanOrEqual(encodeEvents(encoderOf(plain), events, header).length + (isSingle ? 12 : 0))
      }),
      { numRuns: runs(60) },
    )
  })

  it('combined with any others gives back the events, and the same bytes however they were cut into batches', () => {
    fc.assert(
      fc.property(
        anyTrace,
        anyStrategies,
        anyWindow,
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 }),
        ({ events }, strategies, window, sizes) => {
          const bytes = encodeEvents(encoderOf(strategies, window), events, header)
          expect(encodeAll(encoderOf(strategies, window), cut(events, sizes))).toEqual(bytes)
          const decoded = decodeAll(new HatfDecoder(), bytes, 64)
          expect(decoded.error).toBeUndefined()
          expect(decoded.events).toEqual(events)
        },
      ),
      { numRuns: runs(300) },
    )
  })

  it('keeps all fields, kinds and headers in attributes', () => {
    fc.assert(
      fc.property(randomAll(), anyStrategies, anyWindow, (traces, strategies, window) => {
        const encoder = encoderOf(strategies, window, { attributes: true, strict: true })
        const batches = traces.flatMap(({ header, events }) => batchesOf(events, header))
        const decoded = decodeAll(new HatfDecoder(), encodeAll(encoder, batches))
        expect(decoded.error).toBeUndefined()
        expect(decoded.events).toEqual(traces.flatMap(({ events }) => events))
        expect(decoded.headers).toEqual(traces.map(({ header }) => header))
      }),
    )
  })

  it('within one window, more to choose from takes no more bytes', () => {
    const length = (events: TraceEvent[], more: Partial<Strategies>) =>
      encodeEvents(encoderOf({ ...plain, ...more }), events, header).length
    fc.assert(
      fc.property(anyTrace, ({ events }) => {
        const least = Math.min(length(events, { size: 'small' }), length(events, { size: 'same' }))
        // What the cheapest path to a state remembers of the last width can be wrong by one metadata record.
        expect(length(events, { size: 'combined' })).toBeLessThanOrEqual(least + 4)
      }),
    )
  })
})

describe('latency', () => {
  it('writes every batch as it comes', () => {
    fc.assert(
      fc.property(anyTrace, fc.integer({ min: 1, max: 9 }), ({ events }, size) => {
        const encoder = new HatfEncoder({ latency: true })
        const decoder = new HatfDecoder({ fold: false })
        let records = 0
        let given = 0
        for (const batch of cut(events, [size])) {
          const bytes = drive(encoder, [batch]).out
          for (const event of batch) {
            records += event.kind !== 'realloc' || event.outcome === 'none' ? 1 : event.outcome === 'moved' ? 3 : 2
          }
          for (const part of bytes) {
            decoder.feed(part)
            for (let out = decoder.next(); out !== null; out = decoder.next()) given += out.count
          }
          expect(given).toBe(records)
        }
      }),
      { numRuns: runs(50) },
    )
  })

  it('else nothing is written before a window is full or the input ends', () => {
    const events: TraceEvent[] = Array.from({ length: WINDOW_RECORDS - 1 }, () => ({ kind: 'free', address: 0x1000n }))
    const encoder = new HatfEncoder()
    const feed = (some: TraceEvent[]) => {
      for (const batch of batchesOf(some, header)) encoder.feed(batch)
      return encoder.next()?.length ?? 0
    }
    expect(feed(events)).toBe(0)
    expect(feed(events.slice(0, 10))).toBeGreaterThan(0)
    encoder.endTruncated()
    expect(encoder.next()?.length).toBeGreaterThan(0)
    expect(encoder.next()).toBeNull()
  })

  it('large attributes and comments make small windows', () => {
    const text = 'x'.repeat(60_000)
    const events: TraceEvent[] = Array.from({ length: 100 }, () => ({ kind: 'comment', text }))
    const encoder = new HatfEncoder()
    const parts: number[] = []
    for (const batch of cut(events, [1])) {
      encoder.feed(batch)
      for (let bytes = encoder.next(); bytes !== null; bytes = encoder.next()) parts.push(bytes.length)
    }
    encoder.end()
    expect(parts.length).toBeGreaterThan(3)
    expect(Math.max(...parts)).toBeLessThan(1_200_000)
  })

  it('an event that cannot be written comes after all that can', () => {
    const before: TraceEvent[] = Array.from({ length: 9 }, (_, i) => ({ kind: 'free', address: BigInt(i) << 40n }))
    const batches = [...cut(before, [2]), ...batchesOf([{ kind: 'reserve' }], header)]
    const { out, error } = drive(new HatfEncoder({ strict: true }), batches)
    expect(error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE', event: 10 })
    expect(decodeAll(new HatfDecoder(), new Uint8Array(Buffer.concat(out))).events).toEqual(before)
  })
})

describe('options', () => {
  it('presets, and other strategies for single fields', () => {
    expect(strategiesOf({})).toEqual(PRESETS.best)
    expect(strategiesOf({ preset: 'naive', sizeEncoding: 'small' })).toEqual({ ...PRESETS.naive, size: 'small' })
  })

  it('unknown ones are refused', () => {
    const make = (options: object) => () => new HatfEncoder(options)
    expect(make({ preset: 'toString' })).toThrow(/no preset "toString": there are naive, best/)
    expect(make({ sizeEncoding: 'tiny' })).toThrow(
      /no way "tiny" to encode size: there are naive, small, same, combined/,
    )
  })
})
