import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { batchesOf, type EventBatch, type TraceEvent } from '../../../lib/event/batch.js'
import { TraceError } from '../../../lib/event/error.js'
import type { Format } from '../../../lib/event/format.js'
import { CompactDecoder } from '../../../lib/formats/compact/decode.js'
import { compact } from '../../../lib/formats/compact/index.js'
import {
  CHECKPOINT_HEAD,
  CHECKSUM_BYTES,
  HEAD_BYTES,
  LEVEL,
  MAX_ENTRIES,
  SECTION,
  SECTION_HEAD,
} from '../../../lib/formats/compact/layout.js'
import { countEvents } from '../../../lib/formats/compact/count.js'
import { lists, parseIndex, type Place } from '../../../lib/formats/compact/places.js'
import { findStart } from '../../../lib/formats/compact/seek.js'
import type { CompactKernel } from '../../../lib/formats/compact/kernel.js'
import { mtrc } from '../../../lib/formats/mtrc/index.js'
import { ndjson } from '../../../lib/formats/ndjson/index.js'
import { replay } from '../../../lib/formats/replay/index.js'
import { decodeAll, drive, encodeAll, encodeEvents, slices } from '../../support/drive.js'
import { sealed, sectionsOf, type Section } from '../../support/compact.js'
import { corpusFile } from '../../support/corpus.js'
import { processes } from './processes.js'

const FIXTURES = new URL('../../fixtures/', import.meta.url)

function trace(format: Format, name: string): EventBatch[] {
  const bytes = readFileSync(new URL(name, FIXTURES))
  return drive(format.decoder(), slices(name.endsWith('.gz') ? gunzipSync(bytes) : bytes, 65_536)).out
}

const lines = (batches: readonly EventBatch[]) => Buffer.from(encodeAll(ndjson.encoder(), batches)).toString()
/** The lines of the events, without header and end. */
const eventsOf = (batches: readonly EventBatch[]) => lines(batches).split('\n').slice(1, -2)
const countOf = (batches: readonly EventBatch[]) => batches.reduce((sum, { count }) => sum + count, 0)
const readerOf = (bytes: Uint8Array) => (offset: number, length: number) => bytes.slice(offset, offset + length)

/** All events from the last place before an event on, and the number of the first of them. */
function readFrom(bytes: Uint8Array, event: number) {
  const { start } = findStart(bytes.length, event, readerOf(bytes))
  if (start === undefined) throw new Error('no place')
  return { start, ...drive(new CompactDecoder(start), slices(bytes.slice(start.bytes), 10_000)) }
}

const OF = (type: number) => (section: Section) => section.type === type

describe('a trace with checkpoints', () => {
  const TRACES = [
    ['a program with one thread', replay, 'replay/git.txt.gz', 20_000],
    ['several threads with arenas of their own', replay, 'replay/mstress-head.txt.gz', 4096],
    ['names, lines and indices', mtrc, 'mtrc/git.mtrc.gz', 10_000],
  ] as const
  it.each(TRACES)(
    'comes back, all of it and from each place on: %s',
    { tags: ['slow'] },
    (_, format, name, checkpoint) => {
      const batches = trace(format, name).slice(0, 16)
      const bytes = encodeAll(compact.encoder({ checkpoint }), batches)
      const all = decodeAll(compact.decoder(), bytes, 10_000)
      expect(all.error).toBeUndefined()
      expect(lines(all.batches) === lines(batches)).toBe(true)
      const events = eventsOf(all.batches)
      const [index] = sectionsOf(bytes).filter(OF(SECTION.index)) as [Section]
      const places = parseIndex(bytes.subarray(index.from + SECTION_HEAD, index.to - CHECKSUM_BYTES))?.places ?? []
      expect(places).toHaveLength(Math.ceil(countOf(batches) / checkpoint))
      for (const place of places.slice(-3)) {
        const { start, out, error } = readFrom(bytes, place.events)
        expect(error).toBeUndefined()
        expect(start.events).toBe(place.events)
        expect(out[0]?.header).toEqual(batches[0]?.header)
        expect(eventsOf(out).join('\n') === events.slice(place.events).join('\n')).toBe(true)
      }
    },
  )

  it('counts events of blocks with ends of processes, and reads only the heads of these', () => {
    const { header, events } = processes(5, 20_000)
    const bytes = encodeAll(compact.encoder(), batchesOf(events, header))
    let read = 0
    const reader = (offset: number, length: number) => {
      const part = readerOf(bytes)(offset, length)
      read += part.length
      return part
    }
    expect(countEvents(bytes.length, reader)).toBeUndefined()
    expect(read).toBeLessThan(1000)
    const size = bytes.length - 4
    expect(() => countEvents(size, readerOf(bytes.subarray(0, size)))).toThrow(/event 20001: truncated/)
  })

  it.each(Object.entries(LEVEL))('forgets the blocks of processes that have ended, at the %s level', (_, level) => {
    const { header, events } = processes(5, 20_000)
    const bytes = encodeAll(compact.encoder({ level, checkpoint: 4096 }), batchesOf(events, header))
    expect(decodeAll(compact.decoder(), bytes).events).toEqual(events)
    for (const event of [4097, 9000, 19_999]) {
      const { start, out, error } = readFrom(bytes, event)
      expect(error).toBeUndefined()
      expect(start.events).toBeGreaterThan(0)
      expect(out.flatMap((batch) => [...batch])).toEqual(events.slice(start.events))
    }
  })

  it('keeps the simulated heap: addresses stay as predictable as they were', { tags: ['slow'] }, () => {
    const batches = trace(replay, 'replay/git.txt.gz')
    const bytes = encodeAll(compact.encoder({ checkpoint: 100_000, fast: true }), batches)
    const kept = sectionsOf(bytes).filter(OF(SECTION.checkpoint))
    const whole = encodeAll(compact.encoder({ fast: true }), batches).length
    const snapshots = kept.reduce((sum, { from, to }) => sum + to - from, 0)
    expect(kept).toHaveLength(3)
    // Without the heap it is more than twice as long.
    expect(bytes.length - snapshots).toBeLessThan(1.1 * whole)
    expect(snapshots).toBeLessThan(0.25 * whole)
  })

  it('is the same whatever the batches are', { tags: ['slow'] }, () => {
    const batches = trace(replay, 'replay/mstress-head.txt.gz')
    const events = batches.flatMap((batch) => [...batch])
    const one = encodeAll(compact.encoder({ checkpoint: '5K' }), batches)
    const other = encodeEvents(compact.encoder({ checkpoint: 5120 }), events, batches[0]?.header ?? {})
    expect(Buffer.compare(one, other)).toBe(0)
  })

  it('has places in all files that were concatenated, and in all traces', { tags: ['slow'] }, () => {
    const batches = trace(replay, 'replay/mstress-head.txt.gz')
    const other = trace(replay, 'replay/twolf-head.txt')
    const one = encodeAll(compact.encoder({ checkpoint: 5000 }), [...batches, ...other])
    const bytes = Buffer.concat([one, one])
    const all = decodeAll(compact.decoder(), bytes, 10_000)
    expect(all.error).toBeUndefined()
    const events = all.batches.flatMap((batch) => [...batch])
    for (const n of [0, 4999, 5000, countOf(batches) + 1, countOf([...batches, ...other]) + 6000]) {
      const { start, out, error } = readFrom(bytes, n)
      expect(error).toBeUndefined()
      expect(start.events).toBeLessThanOrEqual(n)
      const read = out.flatMap((batch) => [...batch])
      expect(read).toHaveLength(events.length - start.events)
      expect(read.slice(0, 7000)).toEqual(events.slice(start.events, start.events + 7000))
    }
  })

  it('has no places if a file has no index', () => {
    const batches = trace(replay, 'replay/twolf-head.txt')
    const one = encodeAll(compact.encoder({ checkpoint: 4096 }), batches)
    const bytes = Buffer.concat([encodeAll(compact.encoder(), batches), one])
    expect(findStart(bytes.length, 0, readerOf(bytes))).toEqual({})
    expect(findStart(one.length - 1, 0, readerOf(one.subarray(0, -1)))).toEqual({})
  })

  it.each([0, 4095, -1, 1.5, NaN, '4', 'K', '1G', '', {}, null])('refuses a distance of %j', (checkpoint) => {
    expect(() => compact.encoder({ checkpoint: checkpoint as number })).toThrow(RangeError)
  })
})

describe('real traces with checkpoints', { tags: ['corpus', 'slow'] }, () => {
  it.each(['systemui', 'mstress', 'python'])('come back, all of them and from the last place on: %s', (name) => {
    const batches = drive(replay.decoder(), slices(corpusFile(`memory-replay/${name}.txt`), 65_536)).out
    const bytes = encodeAll(compact.encoder({ checkpoint: '256K' }), batches)
    const all = drive(compact.decoder(), slices(bytes, 65_536))
    expect(all.error).toBeUndefined()
    const events = encodeAll(replay.encoder(), batches)
    expect(Buffer.compare(encodeAll(replay.encoder(), all.out), events)).toBe(0)
    const { out, error } = readFrom(bytes, countOf(batches) - 1)
    expect(error).toBeUndefined()
    const last = encodeAll(replay.encoder(), out)
    expect(Buffer.compare(last, events.subarray(-last.length))).toBe(0)
  })
})

describe('damage', () => {
  const batches = trace(replay, 'replay/mstress-head.txt.gz')
  const bytes = encodeAll(compact.encoder({ checkpoint: 4096 }), batches)
  const sections = sectionsOf(bytes)
  const of = (type: number) => sections.filter(OF(type))
  const damaged = (at: number, seals?: Section) => {
    const copy = bytes.slice()
    copy[at] = copy[at] ^ 1
    return seals === undefined ? copy : sealed(copy, seals)
  }

  it('of the index is reported, and everything is read', () => {
    const [index] = of(SECTION.index) as [Section]
    const copy = damaged(index.from + 100)
    expect(findStart(copy.length, 0, readerOf(copy))).toEqual({
      problem: `the index at byte ${index.from} is damaged`,
    })
    const { events, error } = decodeAll(compact.decoder(), copy)
    expect(events).toHaveLength(countOf(batches))
    expect(error?.message).toBe(
      `compact: byte ${index.from}, event ${countOf(batches) + 1}: malformed: the checksum of a section is wrong`,
    )
  })

  it('of the index is found if its checksum is right', () => {
    const [index] = of(SECTION.index) as [Section]
    // The number of events before the second place.
    const { error } = decodeAll(compact.decoder(), damaged(index.from + SECTION_HEAD + 40 + 32, index))
    expect(error?.message).toContain('the index does not match the file')
  })

  it(
    'of the index or the end does not make the number of events another one, or unknown without a reason',
    { tags: ['slow'] },
    () => {
      const count = countOf(batches)
      expect(countEvents(bytes.length, readerOf(bytes))).toBe(count)
      const whole = encodeAll(compact.encoder(), batches)
      expect(countEvents(whole.length, readerOf(whole))).toBeUndefined()
      const [[index], [end]] = [of(SECTION.index), of(SECTION.end)] as [[Section], [Section]]
      for (let at = index.from; at < bytes.length; at++) {
        const copy = damaged(at)
        let counted: number | undefined
        try {
          counted = countEvents(copy.length, readerOf(copy))
        } catch (error) {
          expect(error).toBeInstanceOf(TraceError)
          expect([index.from, end.from]).toContain((error as TraceError).offset)
          expect((error as TraceError).event).toBe(count + 1)
          continue
        }
        expect(counted, `byte ${at}`).toBe(count)
      }
      const length = damaged(index.to - CHECKSUM_BYTES - 4)
      expect(() => countEvents(length.length, readerOf(length))).toThrow(
        `compact: byte ${index.from}, event ${count + 1}: malformed: the index is damaged: its events are not counted`,
      )
    },
  )

  it('by truncation leaves no number of events, and is reported where it is', () => {
    let events = 0
    for (const { type, from, to } of sections) {
      for (const size of [from, from + 1, to - 1])
        expect(() => countEvents(size, readerOf(bytes.subarray(0, size)))).toThrow(
          `compact: byte ${from}, event ${events + 1}: truncated: `,
        )
      if (type === SECTION.block) events += Buffer.from(bytes).readUInt32LE(from + SECTION_HEAD)
    }
    expect(events).toBe(countOf(batches))
  })

  it('of a checkpoint is an error after all events before it', () => {
    const [, second] = of(SECTION.checkpoint) as [Section, Section]
    for (const copy of [damaged(second.from + 60), damaged(second.from + 60, second)]) {
      const { events, error } = decodeAll(compact.decoder(), copy)
      if (error === undefined) continue
      expect(error).toBeInstanceOf(TraceError)
      expect(events.length).toBeGreaterThanOrEqual(8192)
    }
    const { start, error } = readFrom(damaged(second.from + 60), 9000)
    expect(start.place.events).toBe(8192)
    expect(error?.message).toBe(
      `compact: byte ${second.from}, event 8193: malformed: the checksum of a section is wrong`,
    )
  })

  it('of totals, settings and distances is an error', () => {
    const [first] = of(SECTION.checkpoint) as [Section]
    const body = first.from + SECTION_HEAD
    const problem = (copy: Uint8Array) => decodeAll(compact.decoder(), copy).error?.message
    expect(problem(damaged(body + 16, first))).toContain('other totals')
    expect(problem(damaged(body + CHECKPOINT_HEAD, first))).toContain('an allocator that is not known')
    const twice = Buffer.concat([bytes.subarray(0, first.to), bytes.subarray(first.from)])
    expect(problem(twice)).toContain('checkpoints are too near')
  })

  it('of what a checkpoint keeps never makes the decoder hang or crash', { tags: ['slow'] }, () => {
    let seed = 1
    const random = (below: number) => ((seed = (seed * 1_103_515_245 + 12_345) & 0x7fff_ffff) >> 8) % below
    for (let i = 0; i < 30; i++) {
      const section = of(SECTION.checkpoint)[random(of(SECTION.checkpoint).length)]
      const copy = bytes.slice()
      const from = section.from + SECTION_HEAD + CHECKPOINT_HEAD + 12
      for (let n = 1 + random(3); n > 0; n--) copy[from + random(section.to - 4 - from)] = random(256)
      const { error } = drive(compact.decoder(), slices(sealed(copy, section)))
      expect(error === undefined || error instanceof TraceError, String(error?.stack)).toBe(true)
    }
  })

  it(
    'of the classes of blocks never makes the decoder crash: each byte of a small checkpoint, with each value',
    { tags: ['slow'] },
    () => {
      const events = Array.from({ length: 4100 }, (_, i): TraceEvent => {
        if (i === 0) return { kind: 'alloc', address: 65_536n, size: 64n }
        return i % 2 === 0 ? { kind: 'free', address: 4096n } : { kind: 'alloc', address: 4096n, size: 8n }
      })
      const small = encodeEvents(compact.encoder({ checkpoint: 4096, fast: true }), events, { format: 'unknown' })
      const [section] = sectionsOf(small).filter(OF(SECTION.checkpoint)) as [Section]
      const { start } = findStart(small.length, 4096, readerOf(small))
      const from = start?.bytes ?? 0
      expect(from).toBe(section.from)
      for (let at = section.from + SECTION_HEAD + CHECKPOINT_HEAD; at < section.to - CHECKSUM_BYTES; at++) {
        for (let value = 0; value < 256; value++) {
          const copy = small.slice()
          copy[at] = value
          const { error } = drive(new CompactDecoder(start), [sealed(copy, section).subarray(from, section.to)])
          expect(error === undefined || error instanceof TraceError, `${at}, ${value}: ${error?.stack}`).toBe(true)
        }
      }
    },
  )

  it('of a checkpoint that claims more than it can have takes little memory', () => {
    const section = of(SECTION.checkpoint)[0]
    const { from } = section
    const payload = from + SECTION_HEAD + CHECKPOINT_HEAD + 12
    for (const byte of [0, 0x55, 0xff]) {
      const copy = bytes.slice()
      copy.fill(byte, payload, section.to - 4)
      const { error } = drive(compact.decoder(), slices(sealed(copy, section)))
      expect(error).toBeInstanceOf(TraceError)
    }
  })
})

it('a lack of memory for a simulated allocator is an error: readers would simulate one', () => {
  const encoder = compact.encoder()
  const kernel = Reflect.get(encoder, 'kernel') as CompactKernel
  const { run } = kernel
  Reflect.set(kernel, 'run', { ...run, startSimulation: () => false })
  const { error } = drive(encoder, trace(replay, 'replay/mstress-head.txt.gz'))
  // The kernel is used again.
  Reflect.set(kernel, 'run', run)
  expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT' })
})

describe('a trace without a simulated allocator', () => {
  it('keeps its live blocks, of several processes', { tags: ['slow'] }, () => {
    const events: TraceEvent[] = []
    for (let i = 0; i < 20_000; i++) {
      const [process, address] = [BigInt(1 + (i % 3)), 0xffff_8880_0000_0000n + BigInt(((i * 7919) % 9973) * 64)]
      events.push(
        i % 5 === 4
          ? { kind: 'free', process, address, size: 8n }
          : { kind: 'alloc', process, thread: process * 10n, address, size: BigInt(8 + (i % 6000)), index: BigInt(i) },
      )
    }
    const bytes = encodeEvents(compact.encoder({ checkpoint: 5000 }), events, { format: 'replay' })
    expect(decodeAll(compact.decoder(), bytes).events).toEqual(events)
    const { start, out } = readFrom(bytes, 15_000)
    expect(out.flatMap((batch) => [...batch])).toEqual(events.slice(start.events))
  })
})

describe('an index by hand', () => {
  // Three traces of 10,000 events each, which begin with a model that knows nothing.
  const batches = [1, 2, 3].flatMap((pid) =>
    batchesOf(
      Array.from({ length: 10_000 }, (_, i) => ({ kind: 'alloc' as const, address: BigInt(16 + i * 16), size: 8n })),
      { format: `test${pid}` },
    ),
  )
  const bytes = encodeAll(compact.encoder({ checkpoint: 5000 }), batches)
  const [index] = sectionsOf(bytes).filter(OF(SECTION.index)) as [Section]
  const ENTRY = 40
  const fieldAt = (entry: number, field: number) => index.from + SECTION_HEAD + entry * ENTRY + 8 * field
  /** The file with a number of the index that is another one by some difference, and right checksums. */
  const changed = (entry: number, field: number, by: bigint) => {
    const copy = bytes.slice()
    const view = new DataView(copy.buffer)
    view.setBigUint64(fieldAt(entry, field), view.getBigUint64(fieldAt(entry, field), true) + by, true)
    return sealed(copy, index)
  }
  const [OFFSET, TRACE, TRACES, BLOCKS, EVENTS] = [0, 1, 2, 3, 4]

  it('has a place for each trace and each checkpoint', () => {
    const { places } = parseIndex(bytes.subarray(index.from + SECTION_HEAD, index.to - CHECKSUM_BYTES)) ?? {}
    expect(places?.map(({ traces, blocks, events }) => [traces, blocks, events])).toEqual([
      [0, 0, 0],
      [1, 1, 5000],
      [1, 2, 10_000],
      [2, 3, 15_000],
      [2, 4, 20_000],
      [3, 5, 25_000],
    ])
  })

  it.each([
    ['begins elsewhere', 0, OFFSET, 1n],
    ['begins with events', 0, EVENTS, 1n],
    ['has fewer traces than before', 2, TRACES, -1n],
    ['has fewer blocks than before', 3, BLOCKS, -2n],
    ['has more events than its blocks can have', 4, EVENTS, 100_000n],
    ['has more events than the file', 5, EVENTS, 5000n],
    ['has a checkpoint before its trace', 3, TRACE, 100_000n],
    ['goes back', 4, OFFSET, -10_000n],
    ['has blocks without events', 4, BLOCKS, 1n],
    ['has more traces than before', 4, TRACES, 2n],
  ])('is not used if it %s', (_, entry, field, by) => {
    const copy = changed(entry, field, by)
    expect(findStart(copy.length, 19_999, readerOf(copy)).problem).toContain('is damaged')
  })

  it.each([
    ['events of a trace', 2, EVENTS, 10_001],
    ['events of a checkpoint', 3, EVENTS, 15_100],
  ])('is an error, not other events, if it has one more of the %s', (_, entry, field, event) => {
    const { out, error } = readFrom(changed(entry, field, 1n), event)
    expect(countOf(out)).toBe(0)
    expect(error?.message).toMatch(/malformed: a (trace|checkpoint) has other totals than the blocks before it/)
  })

  it('may be full: then the last places are not in it', () => {
    const place = (i: number): Place => ({ offset: 10 + i, trace: 10, traces: 1, blocks: i, events: i * 4096 })
    const found = Array.from({ length: MAX_ENTRIES + 5 }, (_, i) => place(i))
    const full = found.slice(0, MAX_ENTRIES)
    expect(lists(full, found.slice(0, MAX_ENTRIES), 10)).toBe(true)
    expect(lists(full, found.slice(40_000), 40_010)).toBe(true)
    expect(lists(full, [...found.slice(40_000, 50_000), ...found.slice(50_001)], 40_010)).toBe(false)
    expect(lists(full, found.slice(40_000, 50_000), 40_010)).toBe(false)
    // An index with room has all places.
    expect(lists(full.slice(0, 100), found.slice(50, 100), 60)).toBe(true)
    expect(lists(full.slice(0, 100), found.slice(50, 101), 60)).toBe(false)
  })

  it('is not searched for in an input of very many files', { tags: ['slow'] }, () => {
    const one = encodeAll(
      compact.encoder({ checkpoint: 4096 }),
      batchesOf([{ kind: 'alloc', address: 16n, size: 8n }], { format: 'test' }),
    )
    const files = (n: number) => ({ size: n * one.length, read: repeated(one) })
    const few = files(65_536)
    expect(findStart(few.size, 65_000, few.read).start?.bytes).toBe(65_000 * one.length + HEAD_BYTES)
    const many = files(65_537)
    expect(findStart(many.size, 65_000, many.read)).toEqual({})
  })
})

/** Reads an input in which a file comes again and again. */
function repeated(file: Uint8Array) {
  const twice = Buffer.concat([file, file])
  return (offset: number, length: number) => {
    const from = offset % file.length
    return twice.subarray(from, from + length)
  }
}
