import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batchesOf, type EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { ArrowDecoder } from '../../lib/formats/arrow/decode.js'
import { ArrowEncoder } from '../../lib/formats/arrow/encode.js'
import { CompactDecoder, CompactEncoder } from '../../lib/formats/compact/index.js'
import { GroupsFault, GroupWriter, readGroups } from '../../lib/formats/compact/groups.js'
import { SECTION } from '../../lib/formats/compact/layout.js'
import { END_MARK } from '../../lib/formats/arrow/layout.js'
import { NdjsonDecoder } from '../../lib/formats/ndjson/decode.js'
import { NdjsonEncoder } from '../../lib/formats/ndjson/encode.js'
import { ParquetEncoder } from '../../lib/formats/parquet/encode.js'
import { mtrc } from '../../lib/formats/mtrc/index.js'
import { sectionsOf, sealed } from '../support/compact.js'
import { decodeAll, drive, encodeAll } from '../support/drive.js'
import { anyEvent } from '../support/random-event.js'
import { runs } from '../support/runs.js'
import { readEvents } from './parquet/support.js'

const ONE = { format: 'one' }
const TWO = { format: 'two' }

/** Batches of one or two traces, in which fields of groups come late. */
const traces = fc.array(
  fc.record({
    header: fc.constantFrom(ONE, TWO),
    events: fc.array(anyEvent, { maxLength: 6 }),
    grouped: fc.boolean(),
  }),
  { maxLength: 8 },
)
type Parts = typeof traces extends fc.Arbitrary<infer Value> ? Value : never

function core(event: TraceEvent): TraceEvent {
  const { weight: _w, device: _d, stream: _s, arena: _a, ...rest } = event
  return rest as TraceEvent
}

function batchesFrom(parts: Parts): EventBatch[] {
  return parts.flatMap(({ header, events, grouped }) => batchesOf(grouped ? events : events.map(core), header))
}

const shown = (batches: readonly EventBatch[]) =>
  batches.flatMap((batch) => [...batch].map((event) => [batch.header.format, event]))
const headersOf = (batches: readonly EventBatch[]) =>
  batches.map(({ header }) => header.format).filter((header, i, all) => header !== all[i - 1])

describe('fields of groups that come late', () => {
  const codecs = {
    ndjson: [() => new NdjsonEncoder(), () => new NdjsonDecoder()],
    arrow: [() => new ArrowEncoder(), () => new ArrowDecoder()],
    'arrow, with all columns': [() => new ArrowEncoder({ groups: true }), () => new ArrowDecoder()],
    'compact, fast': [() => new CompactEncoder({ fast: true }), () => new CompactDecoder()],
    'compact, best': [() => new CompactEncoder(), () => new CompactDecoder()],
  } as const

  it.each(Object.entries(codecs))('come back: %s', (_, [encoder, decoder]) => {
    fc.assert(
      fc.property(traces, fc.constantFrom(1, 7, 4096), (parts, size) => {
        const batches = batchesFrom(parts)
        const bytes = encodeAll(encoder(), batches)
        const back = decodeAll(decoder(), bytes, size)
        expect(back.error).toBeUndefined()
        expect(shown(back.batches)).toEqual(shown(batches))
        if (batches.length > 0) expect(headersOf(back.batches)).toEqual(headersOf(batches))
      }),
      { numRuns: runs(100) },
    )
  })

  it('come back: parquet, also in row groups after the first', { tags: ['slow'] }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'heapflow-groups-'))
    const path = join(folder, 'events.parquet')
    try {
      const many = Array.from({ length: 140_000 }, (_, i): TraceEvent => ({
        kind: 'alloc',
        size: BigInt(i),
        ...(i >= 100_000 && { weight: BigInt(i), arena: `arena ${i % 5}` }),
        ...(i >= 139_000 && { device: -i, stream: 7n }),
      }))
      writeFileSync(path, encodeAll(new ParquetEncoder(), batchesOf(many, ONE)))
      const large = await readEvents(path)
      expect(large.error).toBeUndefined()
      expect(large.warnings).toEqual([])
      expect(large.events).toEqual(many)
      await fc.assert(
        fc.asyncProperty(traces, async (parts) => {
          const batches = batchesFrom(parts)
          writeFileSync(path, encodeAll(new ParquetEncoder(), batches))
          const { events, error } = await readEvents(path)
          expect(error).toBeUndefined()
          expect(events).toEqual(batches.flatMap((batch) => [...batch]))
        }),
        { numRuns: runs(50) },
      )
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('are in the one schema of an Arrow stream if asked for', () => {
    const parts = [batchesOf([{ kind: 'alloc' }], ONE), batchesOf([{ kind: 'free', arena: 'a' }], ONE)].flat()
    const schemas = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1').split('heapflow:header').length - 1
    expect(schemas(encodeAll(new ArrowEncoder(), parts))).toBe(2)
    expect(schemas(encodeAll(new ArrowEncoder({ groups: true }), parts))).toBe(1)
  })

  it('do not hide the truncation of an Arrow stream at its second schema', () => {
    const [first, second] = [batchesOf([{ kind: 'alloc' }], ONE), batchesOf([{ kind: 'free', weight: 1n }], ONE)]
    const bytes = encodeAll(new ArrowEncoder(), [...first, ...second])
    const before = encodeAll(new ArrowEncoder(), first).slice(0, -END_MARK.length)
    expect(bytes.slice(0, before.length)).toEqual(before)
    const { events, error } = decodeAll(new ArrowDecoder(), before)
    expect(events).toEqual([{ kind: 'alloc' }])
    expect(error?.message).toMatch('no end mark')
  })
})

describe('formats that cannot represent them', () => {
  it('count each of them, but not on kinds that they drop', () => {
    const events: TraceEvent[] = [
      { kind: 'alloc', index: 1n, address: 16n, size: 1n, thread: 1n, line: 1, weight: 3n, arena: 'a' },
      { kind: 'free', index: 1n, thread: 1n, line: 1, weight: 3n },
      { kind: 'heap-create', weight: 3n },
    ]
    const encoder = mtrc.encoder()
    encodeAll(encoder, batchesOf(events, ONE))
    expect(Object.fromEntries(encoder.losses.counts)).toEqual({ 'heap-create events': 1, weight: 2, arena: 1 })
    const strict = drive(mtrc.encoder({ strict: true }), batchesOf(events, ONE))
    expect(strict.error?.message).toBe('mtrc: event 1: cannot represent weight, arena of alloc events')
  })
})

describe("compact's section of them", () => {
  const events: TraceEvent[] = Array.from({ length: 300 }, (_, i) => ({
    kind: 'alloc',
    ...(i % 3 > 0 && { weight: [2n ** 64n - 1n, 5n, 5n][i % 3] as bigint }),
    ...(i > 100 && i < 200 && { device: i % 2 === 0 ? -(2 ** 31) : 2 ** 31 - 1, arena: `arena ${i % 4}` }),
  }))
  const bytes = encodeAll(new CompactEncoder({ fast: true }), batchesOf(events, ONE))
  const [section] = sectionsOf(bytes).filter(({ type }) => type === SECTION.groups)

  it('is there only if an event has one, before its block', () => {
    const types = (list: TraceEvent[]) =>
      sectionsOf(encodeAll(new CompactEncoder(), batchesOf(list, ONE))).map(({ type }) => type)
    expect(types(events)).toEqual([SECTION.trace, SECTION.groups, SECTION.block, SECTION.end])
    expect(types(events.map(core))).toEqual([SECTION.trace, SECTION.block, SECTION.end])
  })

  it('is refused without its block, and with another one', () => {
    const [trace, groups, block] = sectionsOf(bytes)
    const head = bytes.subarray(0, trace!.from)
    const part = (...sections: (typeof groups)[]) =>
      new Uint8Array(Buffer.concat([head, ...sections.map((one) => bytes.subarray(one!.from, one!.to))]))
    const fault = (file: Uint8Array) => decodeAll(new CompactDecoder(), file).error?.message
    expect(fault(part(trace, groups, groups, block))).toMatch('a block is missing')
    const few = encodeAll(new CompactEncoder({ fast: true }), batchesOf(events.slice(0, 150), ONE))
    const other = sectionsOf(few).find(({ type }) => type === SECTION.groups)!
    const mixed = Buffer.concat([
      part(trace),
      few.subarray(other.from, other.to),
      bytes.subarray(block!.from, block!.to),
    ])
    expect(fault(new Uint8Array(mixed))).toMatch('the fields of groups are those of another number of events')
  })

  it('has a fault for a field that is not known, by name or type', () => {
    const change = (from: string, to: string) => {
      const damaged = bytes.slice()
      const at = Buffer.from(damaged.buffer).indexOf(from, section!.from)
      damaged.set(Buffer.from(to), at)
      return decodeAll(new CompactDecoder(), sealed(damaged, section!)).error?.message
    }
    expect(change('weight', 'height')).toMatch('events have the field "height", which is not known')
    expect(change('weight\0', 'weight\x02')).toMatch('events have the field "weight", which is not known')
  })

  it('is read, or refused, whatever it has', { tags: ['slow'] }, () => {
    const writer = new GroupWriter()
    for (const batch of batchesOf(events, ONE)) writer.add(batch, 0, batch.count)
    const body = writer.take() as Uint8Array
    expect(readGroups(body).count).toBe(events.length)
    for (let i = 0; i < body.length; i++) {
      expect(() => readGroups(body.subarray(0, i))).toThrow(GroupsFault)
      for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
        const damaged = body.slice()
        damaged[i] = value
        try {
          expect(readGroups(damaged).count).toBeLessThanOrEqual(65_536)
        } catch (error) {
          expect(error).toBeInstanceOf(GroupsFault)
        }
      }
    }
  })

  it('takes little for values that repeat', () => {
    const sizeOf = (list: TraceEvent[]) => encodeAll(new CompactEncoder({ fast: true }), batchesOf(list, ONE)).length
    const plain = Array.from({ length: 20_000 }, (): TraceEvent => ({ kind: 'alloc' }))
    const sampled = plain.map((): TraceEvent => ({ kind: 'alloc', weight: 1000n, arena: 'main' }))
    expect(sizeOf(sampled) - sizeOf(plain)).toBeLessThan(80)
  })
})
