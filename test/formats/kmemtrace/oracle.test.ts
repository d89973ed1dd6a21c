// @module-tag slow
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { KmemtraceDecoder, KmemtraceEncoder } from '../../../lib/formats/kmemtrace/index.js'
import { headerOf, LAYOUTS } from '../../../lib/formats/kmemtrace/layout.js'
import { KmemtraceDecoder as OracleDecoder } from '../../oracle/kmemtrace/decode.js'
import { KmemtraceEncoder as OracleEncoder } from '../../oracle/kmemtrace/encode.js'
import { drive, encodeEvents } from '../../support/drive.js'
import { decodesLikeOracle, encodesLikeOracle } from '../../support/oracle.js'
import { anyEvent } from '../../support/random-event.js'
import { runs } from '../../support/runs.js'
import { random } from './random.js'

const cpu = fc.option(fc.nat(3), { nil: undefined })

describe('records read and written by the kernel', () => {
  it('are damaged ones like those of the oracle', () => {
    fc.assert(
      fc.property(
        random(),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 2 }),
        fc.option(fc.nat()),
        fc.integer({ min: 1, max: 900 }),
        cpu,
        ({ header, events }, damage, cut, size, cpu) => {
          const whole = encodeEvents(new KmemtraceEncoder(), events, header)
          for (const [place, byte] of damage) whole[place % whole.length] = byte
          const bytes = cut === null ? whole : whole.subarray(0, cut % whole.length)
          const options = cpu === undefined ? {} : { cpu }
          decodesLikeOracle(new KmemtraceDecoder(options), new OracleDecoder(options), bytes, size)
        },
      ),
      { numRuns: runs(1000) },
    )
  })

  it('may begin at any byte of memory', () => {
    fc.assert(
      fc.property(random(), fc.nat(7), ({ header, events }, skew) => {
        const bytes = encodeEvents(new KmemtraceEncoder(), events, header)
        const memory = new Uint8Array(bytes.length + 9)
        memory.set(bytes, skew)
        const read = (decoder: KmemtraceDecoder) =>
          drive(decoder, [memory.subarray(skew, skew + bytes.length)]).out.flatMap((batch) => [...batch])
        expect(read(new KmemtraceDecoder())).toEqual(read(new OracleDecoder() as unknown as KmemtraceDecoder))
      }),
      { numRuns: runs(300) },
    )
  })

  it('are those of any events as the oracle has them, with the same losses', () => {
    const layout = fc.constantFrom(...LAYOUTS)
    fc.assert(
      fc.property(
        fc.array(anyEvent, { maxLength: 40 }),
        layout,
        cpu,
        fc.boolean(),
        fc.constantFrom('us', 'ns', undefined),
        (events, layout, cpu, strict, timeUnit) => {
          const options = { ...layout, strict, ...(cpu !== undefined && { cpu }) }
          const batches = batchesOf(events, { format: 'test', ...(timeUnit !== undefined && { timeUnit }) })
          encodesLikeOracle(new KmemtraceEncoder(options), new OracleEncoder(options), batches)
        },
      ),
      { numRuns: runs(1500) },
    )
  })

  it('are those of mostly usual events as the oracle has them', () => {
    const word = fc.oneof(...[20n, 34n, 50n, 64n].map((bits) => fc.bigInt({ min: 0n, max: (1n << bits) - 1n })))
    const event = fc.record(
      {
        kind: fc.constantFrom('alloc', 'alloc', 'free', 'free', 'existing', 'realloc', 'lost'),
        api: fc.constantFrom('kmalloc', 'kfree', 'pages', 'kmem_cache_alloc', 'malloc'),
        sequence: fc.integer(),
        cpu: fc.nat(2),
        time: word,
        address: word,
        callSite: word,
        size: word,
        usable: word,
        gfpFlags: fc.nat(),
        node: fc.integer(),
        oldAddress: word,
        count: fc.bigInt({ min: 0n, max: 5000n }),
        attributes: fc.uint8Array({ maxLength: 3 }),
      },
      { requiredKeys: ['kind', 'address', 'size'] },
    ) as fc.Arbitrary<TraceEvent>
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 60 }),
        fc.constantFrom(...LAYOUTS),
        cpu,
        fc.boolean(),
        (events, layout, cpu, micros) => {
          const options = cpu === undefined ? {} : { cpu }
          const usual = events.flatMap((event): TraceEvent[] => [
            { kind: 'alloc', address: 16n, size: 3n },
            event,
            { kind: 'free', address: 16n, api: 'kfree' },
          ])
          encodesLikeOracle(
            new KmemtraceEncoder(options),
            new OracleEncoder(options),
            batchesOf(usual, { ...headerOf(layout), ...(micros && { timeUnit: 'us' }) }),
          )
        },
      ),
      { numRuns: runs(500) },
    )
  })

  it('leave out what is one bit too wide for 32-bit records', () => {
    const fits = { kind: 'alloc', address: 1n, callSite: 2n, size: 3n, usable: 4n } as const
    const events: TraceEvent[] = ['address', 'callSite', 'size', 'usable'].map((field) => ({
      ...fits,
      [field]: 1n << 32n,
    }))
    const encoder = new KmemtraceEncoder({ layout: 'ftrace', wordSize: 4 })
    const free = { ...fits, kind: 'free', size: 1n << 32n, usable: 1n << 32n } as object as TraceEvent
    const batches = batchesOf([fits, ...events, free], {
      format: 'test',
    })
    encodesLikeOracle(encoder, new OracleEncoder({ layout: 'ftrace', wordSize: 4 }), batches)
    expect(encoder.losses.counts.get('events with values of more than 32 bits')).toBe(4)
  })

  it.each(LAYOUTS)(
    'are those of long traces with something unusual here and there, $layout $byteOrder $wordSize',
    (layout) => {
      // Numbers that look random, of 32 bits, so that every layout has room for them.
      let state = 1
      const random = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0)
      const word = (): bigint => BigInt(random())
      const events = Array.from({ length: 20_000 }, (_, i): TraceEvent => {
        const core = {
          address: word(),
          callSite: word(),
          ...(layout.layout === 'relay' ? { sequence: i } : { cpu: i % 4, time: (word() << 20n) + 7n }),
        }
        const block = { size: word(), usable: word(), gfpFlags: random(), node: (i % 3) - 1 }
        // Now and then something rare: a run of unusual records, then single ones.
        if (i % 1000 > 990) return { kind: 'free', ...core, code: (9 << 8) | 1 }
        if (i % 777 === 0) return { kind: 'lost', count: BigInt((i % 5) + 1) }
        if (i % 500 === 3)
          return { kind: 'free', api: 'pages', ...core, attributes: new Uint8Array(300 * (i % 7)).fill(3) }
        return random() > 2 ** 31
          ? { kind: 'alloc', api: 'kmem_cache_alloc', ...core, ...block }
          : { kind: 'free', api: 'kfree', ...core }
      })
      const batches = batchesOf(events, headerOf(layout))
      encodesLikeOracle(new KmemtraceEncoder(), new OracleEncoder(), batches)
      const bytes = encodeEvents(new KmemtraceEncoder(), events, headerOf(layout))
      for (const size of [10_007, 65_536, 1_000_000])
        decodesLikeOracle(new KmemtraceDecoder(), new OracleDecoder(), bytes, size)
    },
  )
})
