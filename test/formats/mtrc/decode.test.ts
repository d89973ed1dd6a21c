import { describe, expect, it } from 'vitest'
import { BATCH_EVENTS, BATCH_STRING_BYTES } from '../../../lib/event/batch.js'
import { MtrcDecoder, mtrc } from '../../../lib/formats/mtrc/index.js'
import { decodeAll } from '../../support/drive.js'
import { END, LP64, OLD, SMALL, hex, join } from './bytes.js'

const decode = (bytes: Uint8Array, size?: number, resolve = true) =>
  decodeAll(new MtrcDecoder({ resolve }), bytes, size)
const LP64_HEADER = { format: 'mtrc', layout: { version: 10501, wordSize: 8, longSize: 8, byteOrder: 'little' } }

describe('a trace', () => {
  it.each([1, 2, 7, 64, undefined])('gives its events, in chunks of %s bytes', (size) => {
    const { events, headers, error } = decode(SMALL, size)
    expect(error).toBeUndefined()
    expect(headers).toEqual([LP64_HEADER])
    expect(events).toEqual([
      { kind: 'reserve', address: 0x7f8b11982000n, size: 16384n, type: 'internal' },
      { kind: 'reserve', address: 0x20728000n, size: 4096n },
      { kind: 'alloc', index: 1n, address: 0x20729410n, size: 24n, thread: 0n, function: 'make', file: 'a.c', line: 9 },
      {
        kind: 'alloc',
        index: 2n,
        address: 0xffff_ffff_ffff_ffffn,
        size: 1n << 35n,
        thread: 0x7f8b140e0000n,
        function: 'make',
        file: 'b.c',
        line: 0xffff_ffff,
      },
      {
        kind: 'realloc',
        index: 1n,
        address: 0x20729430n,
        oldAddress: 0x20729410n,
        size: 128n,
        thread: 0n,
        file: 'b.c',
        line: 0,
      },
      {
        kind: 'free',
        index: 1n,
        address: 0x20729430n,
        size: 128n,
        thread: 0n,
        function: 'main',
        file: 'a.c',
        line: 599,
      },
      { kind: 'free', index: 5n, thread: 0n, line: 0 },
    ])
  })

  it('unresolved, leaves out what only the index tells', () => {
    const { events } = decode(SMALL, 7, false)
    expect(events[4]).toEqual({
      kind: 'realloc',
      index: 1n,
      address: 0x20729430n,
      size: 128n,
      thread: 0n,
      file: 'b.c',
      line: 0,
    })
    expect(events[5]).toEqual({ kind: 'free', index: 1n, thread: 0n, function: 'main', file: 'a.c', line: 599 })
  })

  it('from before 1.4.5 has no sources', () => {
    const { events, headers } = decode(join(OLD, 'A', hex('01 10 20'), 'F', hex('01'), END))
    expect(headers).toEqual([
      { format: 'mtrc', layout: { version: 10300, wordSize: 4, longSize: 4, byteOrder: 'big' } },
    ])
    expect(events).toEqual([
      { kind: 'alloc', index: 1n, address: 0x10n, size: 0x20n },
      { kind: 'free', index: 1n, address: 0x10n, size: 0x20n },
    ])
  })

  it('without events brings its header', () => {
    const { batches, error } = decode(join(LP64, END), 1)
    expect(error).toBeUndefined()
    expect(batches.map(({ count, header }) => ({ count, header }))).toEqual([{ count: 0, header: LP64_HEADER }])
  })

  it('gives its events as they come, with nothing held back', () => {
    const decoder = new MtrcDecoder()
    decoder.feed(LP64)
    expect(decoder.next()).toMatchObject({ count: 0, header: LP64_HEADER })
    expect(decoder.next()).toBeNull()
    decoder.feed(join('H', hex('01 02'), 'H', hex('03')))
    expect(decoder.next()?.count).toBe(1)
    expect(decoder.next()).toBeNull()
    decoder.feed(hex('04'))
    expect([...(decoder.next() ?? [])]).toEqual([{ kind: 'reserve', address: 3n, size: 4n }])
    decoder.endTruncated()
    expect(decoder.next()).toBeNull()
  })

  it('comes in batches of bounded length', () => {
    const records = Array.from({ length: 20_000 }, () => hex('48 10 20'))
    const { batches, events, error } = decode(join(LP64, ...records, END))
    expect(error).toBeUndefined()
    expect(events).toHaveLength(20_000)
    expect(Math.max(...batches.map(({ count }) => count))).toBe(BATCH_EVENTS)
    expect(batches.length).toBeLessThan(12)
  })

  it('with long names comes in shorter batches', () => {
    const record = (n: number) => join('A', hex('01 10 20 00 81'), `${n}`.padStart(60_000, 'x'), hex('00 00 00'))
    const numbers = Array.from({ length: 40 }, (_, n) => n)
    const { batches, events, error } = decode(join(LP64, ...numbers.map(record), END))
    expect(error).toBeUndefined()
    expect(events.map((event) => Number(event.function?.slice(-2).replace('x', '')))).toEqual(numbers)
    for (const { strings } of batches) expect(strings.byteLength).toBeLessThan(BATCH_STRING_BYTES + 2 * 65_536)
  })

  it('keeps names that are not UTF-8', () => {
    const { events } = decode(join(LP64, 'A', hex('01 10 20 00 81 ff41 00 00 00'), END))
    expect(events[0]?.function).toBe('\udcffA')
  })

  it('may define an entry again, and an empty name', () => {
    const call = (name: string) => join('F', hex('01 00'), name, hex('00 00'))
    const calls = ['\x81one\0', '\x01', '\x81two\0', '\x01', '\x82\0'].map(call)
    const { events, error } = decode(join(LP64, ...calls, END), 3)
    expect(error).toBeUndefined()
    expect(events.map((event) => event.function)).toEqual(['one', 'one', 'two', 'two', ''])
  })

  it('may write its numbers with padding', () => {
    const padded = join(hex('ffffffffffffffffff81'), hex('80'.repeat(21)), hex('00'))
    const { events, error } = decode(join(LP64, 'H', hex('8100'), padded, END), 1)
    expect(error).toBeUndefined()
    expect(events).toEqual([{ kind: 'reserve', address: 1n, size: 2n ** 64n - 1n }])
  })

  it.each(Array.from({ length: 64 }, (_, bit) => bit))('reads numbers of %i bits', (bit) => {
    for (const value of [1n << BigInt(bit), (2n << BigInt(bit)) - 1n]) {
      const digits: number[] = []
      for (let rest = value; rest > 0n; rest >>= 7n) digits.push(Number(rest & 127n) | (rest > 127n ? 128 : 0))
      expect(decode(join(LP64, 'H', Uint8Array.from(digits), hex('00'), END)).events[0]?.address).toBe(value)
    }
  })
})

describe('indices', () => {
  const f = (index: string) => join('F', hex(index))
  const a = (index: string, address: string, size: string) => join('A', hex(index + address + size))

  it('may be taken again while they are live, and mean nothing once they are free', () => {
    const { events } = decode(join(OLD, a('01', '10', '01'), a('01', '20', '02'), f('01'), f('01'), END))
    expect(events.slice(2)).toEqual([
      { kind: 'free', index: 1n, address: 0x20n, size: 2n },
      { kind: 'free', index: 1n },
    ])
  })

  it('are live after a realloc of an unknown block', () => {
    const { events } = decode(join(OLD, 'R', hex('07 10 01'), f('07'), END))
    expect(events).toEqual([
      { kind: 'realloc', index: 7n, address: 16n, size: 1n },
      { kind: 'free', index: 7n, address: 16n, size: 1n },
    ])
  })

  it('mean nothing in another trace', () => {
    const { events } = decode(join(OLD, a('01', '10', '01'), END, OLD, f('01'), END))
    expect(events[1]).toEqual({ kind: 'free', index: 1n })
  })
})

describe('a stream of several traces', () => {
  const one = join(OLD, 'H', hex('01 02'))

  it.each([1, 5, undefined])('after end markers, in chunks of %s bytes', (size) => {
    const decoder = new MtrcDecoder()
    const { events, headers, error } = decodeAll(decoder, join(one, END, one, END, LP64, END), size)
    expect(error).toBeUndefined()
    expect(events).toHaveLength(2)
    expect(headers.map(({ layout }) => layout?.version)).toEqual([10300, 10300, 10501])
    expect(headers.map(({ layout }) => layout?.follows)).toEqual([undefined, undefined, undefined])
    expect(decoder.warnings).toEqual([])
  })

  it.each([1, 5, undefined])('where records were expected, in chunks of %s bytes', (size) => {
    const decoder = new MtrcDecoder()
    const { events, headers, error } = decodeAll(decoder, join(one, one, LP64, END), size)
    expect(error).toBeUndefined()
    expect(events).toHaveLength(2)
    expect(headers.map(({ layout }) => layout?.version)).toEqual([10300, 10300, 10501])
    expect(headers.map(({ layout }) => layout?.follows)).toEqual([undefined, 'cut', 'cut'])
    expect(decoder.warnings).toEqual([
      'mtrc: byte 15, event 2: the trace has no end marker: another one begins here',
      'mtrc: byte 30, event 3: the trace has no end marker: another one begins here',
    ])
  })

  it('starts its name caches again', () => {
    const define = join('F', hex('01 00 81'), 'x\0', hex('00 00'))
    const { events, error } = decode(join(LP64, define, END, LP64, 'F', hex('01 00 01 00 00'), END))
    expect(events).toHaveLength(1)
    expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', event: 2 })
  })

  it('has a bounded number of warnings', () => {
    const decoder = new MtrcDecoder()
    const { headers } = decodeAll(decoder, join(...Array.from({ length: 1000 }, () => LP64), END))
    expect(headers).toHaveLength(1000)
    expect(decoder.warnings).toHaveLength(100)
    expect(decoder.warnings.at(-1)).toMatch(/later ones are not reported/)
  })
})

describe('sniffing', () => {
  it('knows whole headers and beginnings of them', () => {
    for (let n = 1; n <= LP64.length; n++) expect(mtrc.sniff(LP64.subarray(0, n))).toBe(true)
    expect(mtrc.sniff(SMALL)).toBe(true)
    expect(mtrc.sniff(OLD)).toBe(true)
  })

  it('knows what is none', () => {
    const heads = [
      hex(''),
      join('MTRX'),
      join('MTRC and more'),
      hex('4d545243 02000000'),
      hex('4d545243 00000001 00000001'),
    ]
    for (const head of heads) expect(mtrc.sniff(head)).toBe(false)
  })
})
