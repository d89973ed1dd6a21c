// @module-tag slow
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batchesOf, EventBatch, type TraceEvent } from '../../../lib/event/batch.js'
import { HatfDecoder } from '../../../lib/formats/hatf/decode.js'
import { HatfEncoder, type HatfEncodeOptions } from '../../../lib/formats/hatf/encode.js'
import { strategiesOf, strategyNames } from '../../../lib/formats/hatf/plan/strategies.js'
import { HatfDecoder as OracleDecoder } from '../../oracle/hatf/decode.js'
import { HatfEncoder as OracleEncoder } from '../../oracle/hatf/encode.js'
import { plannerFor } from '../../oracle/hatf/plan/planner.js'
import { decodeAll, drive, encodeAll, encodeEvents } from '../../support/drive.js'
import { decodesLikeOracle, encodesLikeOracle } from '../../support/oracle.js'
import { runs } from '../../support/runs.js'
import { random, randomAll, randomRuns, type RandomTrace } from './random.js'

const preset = fc.constantFrom('naive' as const, 'best' as const)
const pieces = fc.integer({ min: 1, max: 500 })

/** Any records: metadata that makes sense more often than not, between bytes that may be records or not. */
const metadata = fc
  .tuple(
    fc.constantFrom(1, 2, 2, 2, 0, 3),
    fc.integer({ min: 0, max: 6 }),
    fc.oneof({ weight: 8, arbitrary: fc.constantFrom(0, 1, 2, 4, 8) }, fc.integer({ min: 0, max: 11 })),
    fc.uint8Array({ minLength: 16, maxLength: 16 }),
    fc.boolean(),
  )
  .map(([operation, field, setting, values, isSmall]) => {
    if (isSmall) values.fill(0, 0, 7)
    const length = operation !== 2 || setting === 0 || setting > 4 ? 0 : setting === 4 ? 16 : 8
    return [11, operation, field, setting, ...values.subarray(0, length)]
  })
const record = fc
  .tuple(fc.constantFrom(0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10), fc.uint8Array({ minLength: 8, maxLength: 24 }))
  .map(([tag, bytes]) => [tag, ...bytes])
const zeros = fc.constantFrom(0, 1, 3, 4, 5).map((tag) => [tag, ...new Uint8Array(12)])

const names = <F extends Parameters<typeof strategyNames>[0]>(field: F) =>
  fc.constantFrom(...strategyNames(field)) as fc.Arbitrary<never>
const anyOptions: fc.Arbitrary<HatfEncodeOptions> = fc.oneof(
  fc.record({ preset, window: fc.constantFrom(1, 2, 3, 10, 64, 2048) }),
  fc.record({
    sizeEncoding: names('size'),
    addressEncoding: names('address'),
    timeEncoding: names('time'),
    threadEncoding: names('thread'),
    heapEncoding: names('heap'),
    attributesEncoding: names('attributes'),
    window: fc.constantFrom(1, 2, 3, 10, 64, 2048),
  }),
)

const oracleOf = (options: HatfEncodeOptions) =>
  new OracleEncoder(options, plannerFor(strategiesOf(options), options.window))

/** Traces in batches of so many events. */
function cut(traces: readonly RandomTrace[], size: number): EventBatch[] {
  return traces.flatMap(({ header, events }) => {
    const batches: EventBatch[] = []
    for (let i = 0; i === 0 || i < events.length; i += size)
      batches.push(...batchesOf(events.slice(i, i + size), header))
    return batches
  })
}

describe('the kernel', () => {
  it.each([true, false])('reads any metadata and records like the oracle, fold: %s', (fold) => {
    fc.assert(
      fc.property(fc.array(fc.oneof(metadata, record, zeros), { maxLength: 12 }), pieces, (parts, size) => {
        decodesLikeOracle(new HatfDecoder({ fold }), new OracleDecoder({ fold }), Uint8Array.from(parts.flat()), size)
      }),
      { numRuns: runs(3000) },
    )
  })

  it('reads what it wrote, whole, damaged or cut, like the oracle', () => {
    fc.assert(
      fc.property(
        fc.oneof(random(), randomRuns()),
        preset,
        fc.boolean(),
        fc.nat(),
        fc.nat({ max: 255 }),
        fc.integer({ min: 0, max: 3 }),
        pieces,
        ({ header, events }, preset, fold, place, byte, damage, size) => {
          let bytes = encodeEvents(new OracleEncoder({ preset }), events, header)
          if (damage === 1) bytes = bytes.subarray(0, place % (bytes.length + 1))
          else if (damage === 2 && bytes.length > 0) bytes[place % bytes.length] = byte
          decodesLikeOracle(new HatfDecoder({ fold }), new OracleDecoder({ fold }), bytes, size)
        },
      ),
      { numRuns: runs(800) },
    )
  })

  it('reads attributes, comments and headers like the oracle', () => {
    fc.assert(
      fc.property(
        randomAll(),
        preset,
        fc.boolean(),
        fc.nat(),
        fc.nat({ max: 255 }),
        fc.boolean(),
        pieces,
        (traces, preset, fold, place, byte, isDamaged, size) => {
          const bytes = encodeAll(
            new OracleEncoder({ preset, attributes: true }),
            traces.flatMap(({ header, events }) => batchesOf(events, header)),
          )
          if (isDamaged && bytes.length > 0) bytes[place % bytes.length] = byte
          decodesLikeOracle(new HatfDecoder({ fold }), new OracleDecoder({ fold }), bytes, size)
        },
      ),
      { numRuns: runs(400) },
    )
  })

  it('writes traces like the oracle, by any strategies, in any windows, however they are cut into batches', () => {
    fc.assert(
      fc.property(
        fc.oneof(random(200), randomRuns(20)),
        anyOptions,
        fc.integer({ min: 1, max: 100 }),
        (trace, options, size) => {
          encodesLikeOracle(new HatfEncoder(options), oracleOf(options), cut([trace], size))
        },
      ),
      { numRuns: runs(1500) },
    )
  })

  it('writes any events like the oracle, and loses the same', () => {
    fc.assert(
      fc.property(
        randomAll(),
        anyOptions,
        fc.boolean(),
        fc.boolean(),
        fc.integer({ min: 1, max: 100 }),
        (traces, options, attributes, strict, size) => {
          const all = { ...options, attributes, strict }
          encodesLikeOracle(new HatfEncoder(all), oracleOf(all), cut(traces, size))
        },
      ),
      { numRuns: runs(800) },
    )
  })

  it('keeps encoders that take turns apart', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.oneof(random(200), randomRuns(20)), anyOptions), { minLength: 2, maxLength: 4 }),
        fc.integer({ min: 1, max: 30 }),
        (tasks, size) => {
          const encoders = tasks.map(([trace, options]) => ({
            encoder: new HatfEncoder(options),
            batches: cut([trace], size),
            out: [] as Uint8Array[],
          }))
          const longest = Math.max(...encoders.map(({ batches }) => batches.length))
          for (let k = 0; k <= longest; k++) {
            for (const { encoder, batches, out } of encoders) {
              const batch = batches[k]
              if (batch !== undefined) encoder.feed(batch)
              else if (k === batches.length) encoder.end()
              for (let bytes; (bytes = encoder.next()) !== null;) out.push(bytes)
            }
          }
          tasks.forEach(([, options], k) => {
            const { batches, out } = encoders[k] as (typeof encoders)[number]
            expect(Buffer.concat(out).equals(Buffer.concat(drive(oracleOf(options), batches).out))).toBe(true)
          })
        },
      ),
      { numRuns: runs(200) },
    )
  })

  it('reads and writes long attributes and comments like the oracle, more than there is room for at once', () => {
    const events = Array.from({ length: 24 }, (_, i): TraceEvent => {
      const address = BigInt(64 * i)
      if (i % 4 === 1) return { kind: 'comment', text: 'x'.repeat(65_535 - i) }
      return {
        kind: 'realloc',
        size: 8n,
        address,
        oldAddress: address + 1n,
        outcome: 'moved',
        ...(i % 12 === 3 && { attributes: new Uint8Array(65_535 - i).fill(i) }),
      }
    })
    const batches = batchesOf(events, { format: 'hatf' })
    for (const preset of ['naive', 'best'] as const) {
      encodesLikeOracle(new HatfEncoder({ preset }), new OracleEncoder({ preset }), batches)
      const bytes = encodeAll(new HatfEncoder({ preset }), batches)
      for (const size of [bytes.length, 70_000, 1000])
        decodesLikeOracle(new HatfDecoder(), new OracleDecoder(), bytes, size)
    }
  })

  it('writes traces without events, however many there are', () => {
    const batches = Array.from({ length: 5000 }, (_, i) => new EventBatch(0, 0, { format: `of ${i}` }))
    const bytes = encodeAll(new HatfEncoder({ attributes: true }), batches)
    expect(drive(new HatfDecoder(), [bytes]).out.map(({ header }) => header)).toEqual(
      batches.map(({ header }) => header),
    )
  })

  it('reads batches that are full, whatever is held back of them', () => {
    const events = Array.from({ length: 20_000 }, (_, i): TraceEvent =>
      i % 7 === 0
        ? {
            kind: 'realloc',
            size: 8n,
            address: BigInt(i),
            oldAddress: BigInt(i + 1),
            outcome: 'moved',
            thread: BigInt(i % 3),
          }
        : { kind: 'alloc', size: BigInt(i), address: BigInt(16 * i), thread: BigInt(i % 5) },
    )
    const bytes = encodeEvents(new HatfEncoder(), events, { format: 'hatf' })
    const { batches, events: read } = decodeAll(new HatfDecoder(), bytes)
    expect(read).toEqual(events)
    expect(Math.max(...batches.map(({ count }) => count))).toBeGreaterThan(4000)
    decodesLikeOracle(new HatfDecoder(), new OracleDecoder(), bytes, 10_000)
  })
})
