// @module-tag slow
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batchesOf, EventBatch, type TraceEvent } from '../../../lib/event/batch.js'
import type { TraceError } from '../../../lib/event/error.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { MtrcDecoder, MtrcEncoder } from '../../../lib/formats/mtrc/index.js'
import { MtrcDecoder as OracleDecoder } from '../../oracle/mtrc/decode.js'
import { MtrcEncoder as OracleEncoder } from '../../oracle/mtrc/encode.js'
import { decodeAll, drive, encodeAll, encodeEvents } from '../../support/drive.js'
import { decodesLikeOracle, encodesLikeOracle } from '../../support/oracle.js'
import { anyEvent } from '../../support/random-event.js'
import { runs } from '../../support/runs.js'
import { inBatches, spacedEvents } from '../../transforms/events.js'
import { END, hex, join, LP64, OLD } from './bytes.js'
import { random, randomStream } from './random.js'

const likeOracle = (bytes: Uint8Array, size: number, resolve: boolean) => {
  decodesLikeOracle(new MtrcDecoder({ resolve }), new OracleDecoder({ resolve }), bytes, size)
}

/** Numbers of all lengths, padded ones, and what is none. */
const number = fc.oneof(
  fc.integer({ min: 0, max: 127 }).map((n) => Uint8Array.of(n)),
  fc
    .tuple(fc.uint8Array({ maxLength: 33 }), fc.integer({ min: 0, max: 127 }))
    .map(([more, last]) => Uint8Array.of(...more.map((byte) => byte | 0x80), last)),
  fc.tuple(fc.uint8Array({ maxLength: 9 }), fc.integer({ min: 0, max: 33 })).map(([some, n]) => {
    return Uint8Array.of(...some.map((byte) => byte | 0x80), ...Array.from({ length: n }, () => 0x80), 0)
  }),
)
const name = fc.oneof(
  fc.integer({ min: 0, max: 255 }).map((n) => Uint8Array.of(n)),
  fc
    .constantFrom('\0', '\x81a\0', '\x82b\0', '\xa0\0', '\x81a', '\x01', '\x02', '\x20')
    .map((text) => Uint8Array.from(Buffer.from(text, 'latin1'))),
)
const record = fc
  .tuple(
    fc.constantFrom('A', 'A', 'F', 'R', 'H', 'I', 'M', 'X'),
    fc.array(number, { minLength: 1, maxLength: 4 }),
    fc.array(name, { maxLength: 2 }),
    fc.option(number),
  )
  .map(([type, numbers, names, line]) => join(type, ...numbers, ...names, ...(line === null ? [] : [line])))

describe('the kernel', () => {
  it('reads any records like the oracle', () => {
    fc.assert(
      fc.property(
        fc.array(record, { maxLength: 6 }),
        fc.boolean(),
        fc.boolean(),
        fc.integer({ min: 1, max: 200 }),
        (records, sources, resolve, size) => {
          likeOracle(join(sources ? LP64 : OLD, ...records), size, resolve)
        },
      ),
      { numRuns: runs(2000) },
    )
  })

  it('reads damaged traces like the oracle', () => {
    fc.assert(
      fc.property(
        randomStream(),
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 2 }),
        fc.option(fc.nat()),
        fc.integer({ min: 1, max: 500 }),
        fc.boolean(),
        (traces, damage, cut, size, resolve) => {
          const whole = encodeAll(
            new MtrcEncoder(),
            traces.flatMap(({ events, header }) => batchesOf(events, header)),
          )
          for (const [place, byte] of damage) whole[place % whole.length] = byte
          likeOracle(cut === null ? whole : whole.subarray(0, cut % whole.length), size, resolve)
        },
      ),
      { numRuns: runs(500) },
    )
  })

  it('reads long traces like the oracle', () => {
    fc.assert(
      fc.property(random(2000), fc.integer({ min: 1000, max: 300_000 }), ({ header, events }, size) => {
        likeOracle(encodeEvents(new MtrcEncoder(), events, header), size, true)
      }),
      { numRuns: runs(20) },
    )
  })

  it('reads names of all lengths and more of them than it keeps like the oracle', () => {
    const text = (n: number) => `${n}`.repeat(n % 50 === 0 ? 1000 : n % 400 === 1 ? 16_000 : 3)
    const records = Array.from({ length: 9000 }, (_, n) => {
      const entry = Uint8Array.of(0x81 + (n % 32))
      const again = Uint8Array.of(1 + ((n * 7) % 32))
      return join(
        'F',
        hex('01 00'),
        entry,
        `${text(n)}\0`,
        n < 32 ? hex('00') : n % 5 === 0 ? join(hex('81'), `${text(n % 3000)}\0`) : hex('01'),
        hex('00'),
        'F',
        hex('01 00'),
        n < 32 ? hex('00') : again,
        hex('00 00'),
      )
    })
    const bytes = join(LP64, 'F', hex('01 00 00 81 4100 00'), ...records, END)
    for (const size of [997, 65_536, bytes.length]) likeOracle(bytes, size, false)
  })

  it('finds blocks like the oracle, whatever their indices have in common', () => {
    for (const bits of [0, 6, 11, 20, 40, 58]) {
      const events: TraceEvent[] = []
      let random = 1
      for (let n = 0; n < 6000; n++) {
        random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0
        const index = BigInt.asUintN(64, BigInt((random >>> 8) % (n < 3000 ? 4000 : 50)) << BigInt(bits))
        const kind = (['alloc', 'alloc', 'free', 'realloc'] as const)[(random >>> 5) % 4] as 'alloc'
        events.push(
          (kind as string) === 'free'
            ? { kind: 'free', index }
            : { kind, index, address: BigInt(n) * 16n, size: BigInt(n) },
        )
      }
      likeOracle(encodeEvents(new MtrcEncoder(), events, MTRC), 50_000, true)
    }
  })

  it('finds no block by an index chosen to be looked for everywhere', { timeout: 120_000 }, () => {
    // A table of 2 ** bits buckets for seven blocks each, where these have their place: by what they are multiplied
    // with to find it.
    const inverse = 0xf1de_83e1_9937_733dn
    const of = (bucket: number, n: number, bits: number) =>
      BigInt.asUintN(64, ((BigInt(bucket) << BigInt(64 - bits)) + BigInt(n)) * inverse)
    for (const bits of [4, 5, 8, 12]) {
      const buckets = 2 ** bits
      const events: TraceEvent[] = []
      const alloc = (index: bigint) => events.push(...allocInTable(index, index & 0xffn))
      // So many live blocks make the table that large. Then it is empty again.
      const others = Array.from({ length: 2 * buckets }, (_, n) => BigInt(n))
      others.forEach(alloc)
      others.forEach((index) => events.push({ kind: 'free', index }))
      // An eighth block for each bucket goes to the next one, and alone stays.
      for (let bucket = 0; bucket < buckets; bucket++) {
        for (let n = 0; n < 8; n++) alloc(of(bucket, n, bits))
        for (let n = 0; n < 7; n++) events.push({ kind: 'free', index: of(bucket, n, bits) })
      }
      for (let n = 0; n < 50_000; n++) events.push({ kind: 'free', index: of(n % buckets, 1000 + n, bits) })
      for (let bucket = 0; bucket < buckets; bucket++) events.push({ kind: 'free', index: of(bucket, 7, bits) })
      likeOracle(encodeEvents(new MtrcEncoder(), events, MTRC), 1_000_000, true)
    }
  })

  it("finds blocks whose indices were chosen to be in each other's way", { timeout: 120_000 }, () => {
    // The product of these with what a table multiplies keys by is 0, 1, 2 ...: all begin at the same place.
    const inverse = 0xf1de_83e1_9937_733dn
    const indices = Array.from({ length: 60_000 }, (_, n) => BigInt.asUintN(64, BigInt(n) * inverse))
    const events: TraceEvent[] = [
      ...indices.flatMap((index, n) => allocInTable(index, BigInt(n))),
      ...indices.map((index): TraceEvent => ({ kind: 'free', index })),
    ]
    // Were each compared with all that came before, it would take minutes.
    const { events: read } = decodeAll(new MtrcDecoder(), encodeEvents(new MtrcEncoder(), events, MTRC))
    expect(read.slice(3 * indices.length).every(({ address }, n) => address === BigInt(n))).toBe(true)
  })

  it('has an index of all bits like any other', () => {
    const index = 2n ** 64n - 1n
    const others = Array.from({ length: 200 }, (_, n): TraceEvent => ({
      kind: 'alloc',
      index: BigInt(n),
      address: 16n,
      size: 1n,
    }))
    const block: TraceEvent = { kind: 'alloc', index, address: 32n, size: 7n }
    const free: TraceEvent = { kind: 'free', index }
    likeOracle(
      encodeEvents(
        new MtrcEncoder(),
        [free, block, ...others, free, free, { ...block, kind: 'realloc' }, block, free],
        MTRC,
      ),
      10_000,
      true,
    )
  })

  it('writes any events like the oracle, and loses the same', () => {
    fc.assert(
      fc.property(
        fc.array(anyEvent, { maxLength: 30 }),
        fc.boolean(),
        fc.constantFrom(FOREIGN, MTRC, OLDER),
        (events, strict, header) => {
          // The oracle tells all blocks apart.
          const { error } = drive(new MtrcEncoder(), batchesOf(events, header))
          const { code, event = 0 } = (error ?? {}) as TraceError
          const told = code === 'ERR_TRACE_LIMIT' ? events.slice(0, event - 1) : events
          encodesLikeOracle(new MtrcEncoder({ strict }), new OracleEncoder({ strict }), batchesOf(told, header))
        },
      ),
      { numRuns: runs(1000) },
    )
  })

  it('gives indices like the oracle', () => {
    const address = fc.oneof(
      fc.constantFrom(0n, 16n, 32n, 48n, 64n, 4096n),
      fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
    )
    const event = fc.record(
      {
        kind: fc.constantFrom('alloc', 'alloc', 'free', 'free', 'realloc', 'existing'),
        address,
        oldAddress: address,
        size: fc.constantFrom(0n, 1n, 1n << 33n),
        outcome: fc.constantFrom('none', 'moved', 'allocated', 'freed'),
        function: fc.constantFrom('f', 'g', '', '\0'),
      },
      { requiredKeys: ['kind'] },
    ) as fc.Arbitrary<TraceEvent>
    // Some of them have the same place among the recent indices.
    const index = fc.constantFrom(1n, 2n, 5n, 5n + RECENT, 5n + 2n * RECENT, 1n << 40n, (1n << 64n) - 1n)
    const indexed = fc.tuple(event, index).map(([rest, index]) => ({ ...rest, index }) as TraceEvent)
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.oneof(event, indexed), { maxLength: 40 }), { maxLength: 3 }),
        fc.boolean(),
        (parts, sameTrace) => {
          const batches = parts.flatMap((events) => batchesOf(events, sameTrace ? FOREIGN : { ...FOREIGN }))
          encodesLikeOracle(new MtrcEncoder(), new OracleEncoder(), batches)
        },
      ),
      { numRuns: runs(1000) },
    )
  })

  it('writes batches of any length with more names than it keeps like the oracle', () => {
    const batches: EventBatch[] = []
    for (let b = 0; b < 4; b++) {
      const batch = new EventBatch(10_000, 0, MTRC)
      for (let i = 0; i < 10_000; i++) {
        const n = (i * 7919 + b) % (b === 3 ? 40 : 6000)
        batch.push({
          kind: 'free',
          index: BigInt(i),
          function: `${n}`.repeat(n % 700 === 0 ? 2000 : 1),
          ...(i % 3 === 0 && { file: `${n % 500}` }),
          line: i,
        })
      }
      batches.push(batch)
    }
    encodesLikeOracle(new MtrcEncoder(), new OracleEncoder(), batches)
  })
})

/** The number of places for blocks of recent indices, as in kernel/mtrc/recent.ts. */
const RECENT = 8192n

/** Allocates a block, and another one that takes its place among the recent ones for a moment. */
function allocInTable(index: bigint, address: bigint): TraceEvent[] {
  const other = index ^ RECENT
  return [
    { kind: 'alloc', index, address, size: 1n },
    { kind: 'alloc', index: other, address, size: 2n },
    { kind: 'free', index: other },
  ]
}

const MTRC: TraceHeader = { format: 'mtrc' }
const OLDER: TraceHeader = { format: 'mtrc', layout: { version: 10_300 } }
const FOREIGN: TraceHeader = { format: 'replay' }

it('gives indices to blocks of several processes, and to pages and objects, like the oracle', () => {
  fc.assert(
    fc.property(spacedEvents, fc.integer({ min: 1, max: 70 }), (events, size) => {
      encodesLikeOracle(new MtrcEncoder(), new OracleEncoder(), inBatches(events, size, { format: 'x' }))
    }),
    { numRuns: runs(1000) },
  )
})
