import { describe, expect, it } from 'vitest'
import { EventBatch, batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { NO_HEADER, type TraceHeader } from '../../../lib/event/header.js'
import { MtrcDecoder, MtrcEncoder } from '../../../lib/formats/mtrc/index.js'
import { decodeAll, drive, encodeAll, encodeEvents } from '../../support/drive.js'
import { END, LP64, OLD, SMALL, hex, join } from './bytes.js'

const OLD_HEADER: TraceHeader = {
  format: 'mtrc',
  layout: { version: 10300, wordSize: 4, longSize: 4, byteOrder: 'big' },
}
const MTRC: TraceHeader = { format: 'mtrc', layout: { version: 10501, wordSize: 8, longSize: 8, byteOrder: 'little' } }
const FOREIGN: TraceHeader = { format: 'replay' }

const BLOCK_KINDS: readonly string[] = ['alloc', 'existing', 'realloc', 'free']

/** An event with the thread and the line that its record has anyway: those of no thread and no line. */
function complete(event: TraceEvent): TraceEvent {
  return BLOCK_KINDS.includes(event.kind) ? ({ thread: 0n, line: 0, ...event } as TraceEvent) : event
}

/** The bytes of complete events between header and end marker, and what was lost. */
function encode(events: TraceEvent[], header: TraceHeader = MTRC) {
  const encoder = new MtrcEncoder()
  const bytes = encodeEvents(encoder, header === OLD_HEADER ? events : events.map(complete), header)
  const prefix = header === OLD_HEADER ? OLD : LP64
  expect(bytes.subarray(0, prefix.length)).toEqual(prefix)
  expect(bytes.subarray(-4)).toEqual(END)
  return { records: bytes.subarray(prefix.length, -4), losses: Object.fromEntries(encoder.losses.counts) }
}

const a = (rest: string) => join('A', hex(rest))
const f = (rest: string) => join('F', hex(rest))
const r = (rest: string) => join('R', hex(rest))
const NO_SOURCE = '00 00 00 00'

describe('a trace', () => {
  it('is written as it was read', () => {
    const encoder = new MtrcEncoder({ strict: true })
    const { batches } = decodeAll(new MtrcDecoder(), SMALL)
    expect(encodeAll(encoder, batches)).toEqual(SMALL)
    expect(encoder.losses.counts.size).toBe(0)
  })

  it('of nothing is an empty trace', () => {
    expect(encodeAll(new MtrcEncoder(), [])).toEqual(join(LP64, END))
    expect(encodeEvents(new MtrcEncoder(), [], OLD_HEADER)).toEqual(join(OLD, END))
  })

  it('has its header at once, and no end marker when it was cut', () => {
    const encoder = new MtrcEncoder()
    encoder.feed(new EventBatch(0, 0, MTRC))
    expect(encoder.next()).toEqual(LP64)
    expect(encoder.next()).toBeNull()
    for (const batch of batchesOf([{ kind: 'reserve', address: 1n, size: 2n }], MTRC)) encoder.feed(batch)
    expect(encoder.next()).toEqual(join('H', hex('01 02')))
    encoder.endTruncated()
    expect(encoder.next()).toBeNull()
  })

  it('that never began has nothing when it was cut', () => {
    const encoder = new MtrcEncoder()
    encoder.endTruncated()
    expect(encoder.next()).toBeNull()
  })

  it('of another version of itself begins behind an end marker, or without one', () => {
    const reserve: TraceEvent[] = [{ kind: 'reserve', address: 1n, size: 2n }]
    const cut = { ...OLD_HEADER, layout: { ...OLD_HEADER.layout, follows: 'cut' } }
    const h = join('H', hex('01 02'))
    const write = (...headers: TraceHeader[]) => {
      return encodeAll(
        new MtrcEncoder(),
        headers.flatMap((header) => batchesOf(reserve, header)),
      )
    }
    expect(write(MTRC, OLD_HEADER)).toEqual(join(LP64, h, END, OLD, h, END))
    expect(write(MTRC, cut)).toEqual(join(LP64, h, OLD, h, END))
    expect(write(cut, MTRC)).toEqual(join(OLD, h, END, LP64, h, END))
  })

  it('starts indices and names again in another trace', () => {
    const event: TraceEvent = { kind: 'alloc', address: 16n, size: 1n, function: 'x' }
    const bytes = encodeAll(new MtrcEncoder(), [
      ...batchesOf([event], FOREIGN),
      ...batchesOf([event], { format: 'replay' }),
    ])
    const one = join(LP64, a('01 10 01 00 81 7800 00 00'), END)
    expect(bytes).toEqual(join(one, one))
  })

  it('with a layout that no header has is an error', () => {
    const wrong = new EventBatch(0, 0, { format: 'mtrc', layout: { version: 7 } })
    const batches = [...batchesOf([{ kind: 'reserve', address: 1n, size: 2n }], MTRC), wrong]
    const { out, error } = drive(new MtrcEncoder(), batches)
    expect(error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE', format: 'mtrc', event: 2 })
    expect(join(...out)).toEqual(join(LP64, 'H', hex('01 02')))
  })

  it('that is large comes in pieces', () => {
    const names = Array.from({ length: 200 }, (_, i) => `${i % 40}`.padStart(9000, 'x'))
    const events = names.map((name): TraceEvent => ({ kind: 'free', index: 1n, function: name }))
    const { out, error } = drive(new MtrcEncoder(), batchesOf(events, MTRC))
    expect(error).toBeUndefined()
    expect(Math.max(...out.map((piece) => piece.length))).toBeLessThan(150_000)
    const { events: decoded } = decodeAll(new MtrcDecoder(), join(...out))
    expect(decoded.map((event) => event.function?.slice(-2))).toEqual(names.map((name) => name.slice(-2)))
  })
})

describe('names', () => {
  const call = (name: string): TraceEvent => ({ kind: 'free', index: 1n, function: name, file: name, line: 1 })

  it('take entries in the order of first use, then the one used longest ago', () => {
    const names = Array.from({ length: 33 }, (_, i) => `n${i}`)
    // Entry 1 is used once more, so that entry 2 is the oldest when the 33rd name comes.
    const sequence = [...names.slice(0, 32), 'n0', 'n32', 'n1', 'n0']
    const entry = [...names.slice(0, 32).map((_, i) => 0x81 + i), 1, 0x82, 0x83, 1]
    const expected = sequence.map((name, i) => {
      const byte = Uint8Array.of(entry[i] as number)
      const text = entry[i] > 0x80 ? join(byte, `${name}\0`) : byte
      return join(f('01 00'), text, text, hex('01'))
    })
    expect(encode(sequence.map(call))).toEqual({ records: join(...expected), losses: {} })
  })

  it('are the same name whatever their id in the batch', () => {
    const events = [1n, 2n].map((index): TraceEvent => ({ kind: 'free', index, function: 'x' }))
    const batch = batchesOf(events, MTRC)[0]
    batch.function[1] = batch.strings.add(Uint8Array.of(0x78))
    expect(encodeAll(new MtrcEncoder(), [batch])).toEqual(
      join(LP64, f('01 00 81 7800 00 00'), f('02 00 01 00 00'), END),
    )
  })

  it('that cannot be written are counted', () => {
    const { records, losses } = encode([
      { kind: 'free', index: 1n, function: '' },
      { kind: 'free', index: 1n, file: 'a\0b' },
      { kind: 'free', index: 1n, function: 'x'.repeat(65_537) },
    ])
    expect(records).toEqual(join(f(`01 ${NO_SOURCE}`), f(`01 ${NO_SOURCE}`), f(`01 ${NO_SOURCE}`)))
    expect(losses).toEqual({ 'empty names': 1, 'names with a NUL in them': 1, 'names of more than 65536 bytes': 1 })
  })
})

describe('events with an index', () => {
  it('keep it, whatever it is', () => {
    const { records, losses } = encode([
      { kind: 'alloc', index: 9n, address: 0n, size: 1n, thread: 300n, line: 7 },
      { kind: 'realloc', index: 300n, address: 16n, size: 0n },
      { kind: 'realloc', index: 300n, address: 32n, oldAddress: 16n, size: 2n },
      { kind: 'free', index: 9n, address: 0n, size: 1n },
      { kind: 'free', index: 300n, address: 32n, size: 2n },
    ])
    const reallocs = join(r(`ac02 10 00 ${NO_SOURCE}`), r(`ac02 20 02 ${NO_SOURCE}`))
    const frees = join(f(`09 ${NO_SOURCE}`), f(`ac02 ${NO_SOURCE}`))
    expect(records).toEqual(join(a('09 00 01 ac02 00 00 07'), reallocs, frees))
    expect(losses).toEqual({})
  })

  const alloc: TraceEvent = { kind: 'alloc', index: 5n, address: 16n, size: 8n }
  const later: TraceEvent = { kind: 'realloc', index: 5n, address: 32n, size: 9n }
  const unknown = 'of blocks that are not in the trace'
  const other = 'that is not that of their block'
  it.each<[string, TraceEvent[], string[]]>([
    [
      'a free of a block that is not there',
      [{ kind: 'free', index: 5n, address: 16n }],
      [`address of frees ${unknown}`],
    ],
    ['a free of its size', [{ kind: 'free', index: 5n, size: 8n }], [`size of frees ${unknown}`]],
    ['a free of another block', [alloc, { kind: 'free', index: 5n, address: 17n }], [`address of frees ${other}`]],
    [
      'a free of a block that has moved',
      [alloc, later, { kind: 'free', index: 5n, address: 16n, size: 8n }],
      [`address of frees ${other}`, `size of frees ${other}`],
    ],
    [
      'a second free',
      [alloc, { kind: 'free', index: 5n }, { kind: 'free', index: 5n, address: 16n, size: 8n }],
      [`address of frees ${unknown}`, `size of frees ${unknown}`],
    ],
    ['a realloc of a block that is not there', [{ ...later, oldAddress: 16n }], [`oldAddress of reallocs ${unknown}`]],
    ['a realloc of another block', [alloc, { ...later, oldAddress: 17n }], [`oldAddress of reallocs ${other}`]],
  ])('have no address or size dropped silently: %s', (_, events, reasons) => {
    expect(encode(events).losses).toEqual(Object.fromEntries(reasons.map((reason) => [reason, 1])))
    const { out, error } = drive(new MtrcEncoder({ strict: true }), batchesOf(events.map(complete), MTRC))
    expect(error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE', event: events.length })
    expect(join(...out)).toEqual(join(LP64, encode(events.slice(0, -1)).records))
  })

  it('are compared in their own trace only', () => {
    const encoder = new MtrcEncoder()
    const another = { format: 'mtrc' }
    const free: TraceEvent = { kind: 'free', index: 5n, address: 16n }
    encodeAll(encoder, [...batchesOf([complete(alloc)], MTRC), ...batchesOf([complete(free)], another)])
    expect(Object.fromEntries(encoder.losses.counts)).toEqual({ [`address of frees ${unknown}`]: 1 })
  })

  it('that have no thread or line are counted, for the record has both', () => {
    const encoder = new MtrcEncoder()
    const events: TraceEvent[] = [alloc, { kind: 'free', index: 5n, thread: 1n }]
    encodeEvents(encoder, [...events, { kind: 'reserve', address: 1n, size: 1n }], MTRC)
    expect(Object.fromEntries(encoder.losses.counts)).toEqual({
      'no thread, written as 0': 1,
      'no line, written as 0': 2,
    })
    const strict = drive(new MtrcEncoder({ strict: true }), batchesOf([complete(alloc), ...events], MTRC))
    expect(strict.error?.message).toBe('mtrc: event 2: no thread, written as 0')
    const old = new MtrcEncoder({ strict: true })
    encodeEvents(old, [alloc], OLD_HEADER)
    expect(old.losses.counts.size).toBe(0)
  })

  it('may have the largest index: blocks without one are then left out', () => {
    const last = 2n ** 64n - 1n
    const { records, losses } = encode([
      { kind: 'alloc', index: last, address: 16n, size: 1n },
      { kind: 'alloc', address: 32n, size: 1n },
      { kind: 'realloc', oldAddress: 0n, address: 48n, size: 1n },
      { kind: 'free', address: 32n },
    ])
    expect(records).toEqual(a(`ffffffffffffffffff01 10 01 ${NO_SOURCE}`))
    expect(losses).toEqual({ 'allocs for which there is no index left': 2, 'frees of unknown blocks': 1 })
    const nearly = encode([
      { kind: 'alloc', index: last - 1n, address: 16n, size: 1n },
      { kind: 'alloc', address: 32n, size: 1n },
      { kind: 'free', address: 32n, size: 1n },
    ])
    const s = NO_SOURCE
    const [one, two] = ['feffffffffffffffff01', 'ffffffffffffffffff01']
    expect(nearly).toEqual({
      records: join(a(`${one} 10 01 ${s}`), a(`${two} 20 01 ${s}`), f(`${two} ${s}`)),
      losses: {},
    })
  })

  it('miss no address or size in silence', () => {
    const { records, losses } = encode([
      { kind: 'alloc', index: 1n },
      { kind: 'reserve', size: 4n },
    ])
    expect(records).toEqual(join(a(`01 00 00 ${NO_SOURCE}`), 'H', hex('00 04')))
    expect(losses).toEqual({ 'no address, written as 0': 2, 'no size, written as 0': 1 })
  })

  it('are not taken for blocks of events without one', () => {
    const { records } = encode([
      { kind: 'alloc', index: 41n, address: 16n, size: 1n },
      { kind: 'alloc', address: 32n, size: 1n },
    ])
    expect(records).toEqual(join(a(`29 10 01 ${NO_SOURCE}`), a(`2a 20 01 ${NO_SOURCE}`)))
  })

  const unnumbered: TraceEvent = { kind: 'alloc', address: 48n, size: 3n }
  it.each<[string, TraceEvent]>([
    ['an alloc', { kind: 'alloc', index: 1n, address: 16n, size: 8n }],
    ['a realloc', { kind: 'realloc', index: 1n, address: 16n, size: 8n }],
    ['a free', { kind: 'free', index: 1n }],
  ])('that a block without one has got may mean that block: %s', (_, event) => {
    const reason = 'indices that another block got'
    expect(encode([unnumbered, event]).losses).toEqual({ [reason]: 1 })
    expect(encode([unnumbered, { ...event, index: 7n } as TraceEvent]).losses).toEqual({})
  })
})

describe('events without an index', () => {
  it('get one by their address', () => {
    const { records, losses } = encode(
      [
        { kind: 'alloc', address: 16n, size: 1n },
        { kind: 'alloc', address: 32n, size: 2n },
        { kind: 'realloc', address: 48n, oldAddress: 16n, size: 3n },
        { kind: 'free', address: 48n, size: 3n },
        { kind: 'alloc', address: 16n, size: 4n },
        { kind: 'free', address: 16n, size: 4n },
        { kind: 'realloc', address: 32n, oldAddress: 32n, size: 5n },
      ],
      FOREIGN,
    )
    const s = NO_SOURCE
    const first = [a(`01 10 01 ${s}`), a(`02 20 02 ${s}`), r(`01 30 03 ${s}`), f(`01 ${s}`)]
    const second = [a(`03 10 04 ${s}`), f(`03 ${s}`), r(`02 20 05 ${s}`)]
    expect(records).toEqual(join(...first, ...second))
    expect(losses).toEqual({})
  })

  const block: TraceEvent = { kind: 'alloc', address: 16n, size: 1n }
  const realloc = (oldAddress: bigint, address: bigint, size: bigint): TraceEvent => {
    return { kind: 'realloc', oldAddress, address, size }
  }
  const made = a(`02 20 03 ${NO_SOURCE}`)
  it.each<[string, TraceEvent, Uint8Array | undefined, string]>([
    ['free of null', { kind: 'free', address: 0n }, undefined, 'frees of null'],
    ['free of nothing at all', { kind: 'free' }, undefined, 'frees of null'],
    [
      'free of another size',
      { kind: 'free', address: 16n, size: 2n },
      f(`01 ${NO_SOURCE}`),
      'size of frees that is not that of their block',
    ],
    ['free of an unknown block', { kind: 'free', address: 17n }, undefined, 'frees of unknown blocks'],
    ['alloc without a result', { kind: 'alloc', address: 0n, size: 3n }, undefined, 'allocs without an address'],
    ['existing block', { kind: 'existing', address: 32n, size: 3n }, made, 'existing blocks, written as allocs'],
    ['realloc(NULL, n)', realloc(0n, 32n, 3n), made, 'reallocs of null, written as allocs'],
    ['realloc to nothing', realloc(16n, 0n, 0n), f(`01 ${NO_SOURCE}`), 'reallocs to nothing, written as frees'],
    ['realloc of an unknown block to nothing', realloc(17n, 0n, 0n), undefined, 'frees of unknown blocks'],
    ['realloc that failed', realloc(16n, 0n, 3n), undefined, 'failed reallocs'],
    ['realloc of null to null', realloc(0n, 0n, 0n), undefined, 'reallocs of null to null'],
    ['realloc of an unknown block', realloc(17n, 32n, 3n), made, 'reallocs of unknown blocks, written as allocs'],
    [
      'block at the address of a live one',
      { kind: 'alloc', address: 16n, size: 3n },
      a(`02 10 03 ${NO_SOURCE}`),
      'blocks at the address of a live one, which stays live',
    ],
  ])('%s', (_, event, record, reason) => {
    const { records, losses } = encode([block, event], FOREIGN)
    expect(records).toEqual(join(a(`01 10 01 ${NO_SOURCE}`), record ?? ''))
    expect(losses).toEqual({ [reason]: 1 })
    const { out, error } = drive(new MtrcEncoder({ strict: true }), batchesOf([block, event].map(complete), FOREIGN))
    expect(join(...out)).toEqual(join(LP64, a(`01 10 01 ${NO_SOURCE}`)))
    expect(error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE', event: 2 })
  })

  it("keep a failed realloc's block", () => {
    const { records } = encode([block, realloc(16n, 0n, 3n), { kind: 'free', address: 16n }], FOREIGN)
    expect(records).toEqual(join(a(`01 10 01 ${NO_SOURCE}`), f(`01 ${NO_SOURCE}`)))
  })

  it('say by their outcome what a realloc did', () => {
    const { records, losses } = encode(
      [
        block,
        { kind: 'realloc', outcome: 'freed', oldAddress: 16n, address: 99n, size: 3n },
        { kind: 'realloc', outcome: 'allocated', oldAddress: 99n, address: 32n, size: 3n },
      ],
      FOREIGN,
    )
    expect(records).toEqual(join(a(`01 10 01 ${NO_SOURCE}`), f(`01 ${NO_SOURCE}`), a(`02 20 03 ${NO_SOURCE}`)))
    expect(losses).toEqual({
      'reallocs to nothing, written as frees': 1,
      'reallocs of null, written as allocs': 1,
      outcome: 2,
    })
  })
})

describe('what has no place', () => {
  it('is counted by field and kind', () => {
    const { records, losses } = encode(
      [
        { kind: 'alloc', address: 16n, size: 1n, time: 4n, api: 'malloc' },
        { kind: 'comment', text: 'x' },
        { kind: 'reserve', address: 1n, size: 2n, type: 'big', thread: 5n },
      ],
      NO_HEADER,
    )
    expect(records).toEqual(join(a(`01 10 01 ${NO_SOURCE}`), 'H', hex('01 02')))
    expect(losses).toEqual({
      time: 1,
      api: 1,
      'comment events': 1,
      'types of reserves other than "internal"': 1,
      'thread of reserve': 1,
    })
  })

  it('is more before 1.4.5', () => {
    const event: TraceEvent = { kind: 'free', index: 1n, thread: 1n, function: 'f', file: 'g', line: 2 }
    const { records, losses } = encode([event], OLD_HEADER)
    expect(records).toEqual(f('01'))
    expect(losses).toEqual({ thread: 1, function: 1, file: 1, line: 1 })
  })

  it.each<[string, TraceEvent]>([
    ['a field', { kind: 'alloc', address: 16n, size: 1n, time: 4n }],
    ['a kind', { kind: 'comment', text: 'x' }],
    ['a name half way in a record', { kind: 'alloc', index: 1n, address: 16n, size: 1n, function: 'f', file: '\0' }],
  ])('is an error where that was asked for: %s', (_, event) => {
    const good: TraceEvent = { kind: 'reserve', address: 1n, size: 2n }
    const batches = [...batchesOf([good], MTRC), ...batchesOf([good, complete(event), good], MTRC)]
    const { out, error } = drive(new MtrcEncoder({ strict: true }), batches)
    expect(join(...out)).toEqual(join(LP64, 'H', hex('01 02'), 'H', hex('01 02')))
    expect(error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE', format: 'mtrc', event: 3 })
  })
})
