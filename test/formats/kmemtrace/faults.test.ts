import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TraceError } from '../../../lib/event/error.js'
import { KmemtraceDecoder, type KmemtraceDecodeOptions } from '../../../lib/formats/kmemtrace/index.js'
import { decodeAll } from '../../support/drive.js'
import { runs } from '../../support/runs.js'
import { ALLOC, BIG, FREE, LITTLE, join, pack } from './bytes.js'

const decode = (bytes: Uint8Array, size?: number, options?: KmemtraceDecodeOptions) =>
  decodeAll(new KmemtraceDecoder(options), bytes, size)

describe.each([
  ['little', LITTLE],
  ['big', BIG],
] as const)('malformed records, %s-endian', (_, order) => {
  const good = pack(order, ALLOC, FREE)
  it.each([
    ['a free of 23 bytes', { ...FREE, eventSize: 23 }, /23 bytes, where 24/],
    ['a free of no bytes', { ...FREE, eventSize: 0 }, /0 bytes, where 24/],
    ['an allocation of 47 bytes', { ...ALLOC, eventSize: 47 }, /47 bytes, where 48/],
    ['an allocation of 24 bytes', { ...ALLOC, eventSize: 24 }, /24 bytes, where 48/],
    ['an allocation of unknown type of 24 bytes', { ...ALLOC, type: 9, eventSize: 24 }, /24 bytes, where 48/],
    ['an unknown event of 3 bytes', { ...FREE, event: 77, eventSize: 3 }, /3 bytes, where 24/],
    ['no size, and not all zero', { ...ALLOC, seq: 0, eventSize: 0 }, /0 bytes, where 48/],
  ])('%s', (_, bad, message) => {
    for (const size of [1, 5, 64, undefined]) {
      const { events, error } = decode(join(good, pack(order, bad), good), size)
      expect(events).toHaveLength(2)
      expect(error).toBeInstanceOf(TraceError)
      expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', format: 'kmemtrace', offset: 72, event: 3 })
      expect(error?.message).toMatch(message)
    }
  })

  it('behind all-zero records, which are told of first', () => {
    for (const size of [1, 5, 64, undefined]) {
      const { events, error } = decode(join(good, new Uint8Array(48), pack(order, { ...FREE, eventSize: 1 })), size)
      expect(events.map(({ kind }) => kind)).toEqual(['alloc', 'free', 'lost'])
      expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', offset: 120, event: 4 })
    }
  })

  it('truncation at every byte: what was whole, then an error', () => {
    const bytes = join(good, pack(order, { ...FREE, tail: Uint8Array.of(3, 0, 1) }, ALLOC))
    const ends = [0, 48, 72, 99, 147]
    for (let length = 1; length < bytes.length; length++) {
      for (const size of [1, undefined]) {
        const { events, error } = decode(bytes.subarray(0, length), size)
        const whole = ends.filter((end) => end <= length)
        expect(events).toHaveLength(whole.length - 1)
        if (whole.at(-1) === length) expect(error).toBeUndefined()
        else expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', offset: whole.at(-1), event: whole.length })
      }
    }
  })

  it('a zero tail of less than a record is truncated', () => {
    const { events, error } = decode(join(good, new Uint8Array(24 + 23)))
    expect(events).toHaveLength(3)
    expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', offset: 96, event: 4 })
  })

  it('a record that claims 65535 bytes is truncated, not waited for in memory', () => {
    const { events, error } = decode(join(good, pack(order, { ...FREE, eventSize: 65_535 }), new Uint8Array(1000)), 100)
    expect(events).toHaveLength(2)
    expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', offset: 72, event: 3 })
  })
})

describe('bytes that are no records', () => {
  it.each([
    ['text', Buffer.from('12: malloc 0x1000 16\n'.repeat(9))],
    ['a size that no byte order makes sense of', join(Uint8Array.of(1, 0, 16, 16), new Uint8Array(90).fill(7))],
    ['ones', new Uint8Array(100).fill(255)],
  ])('%s', (_, bytes) => {
    for (const size of [1, 30, undefined]) {
      const { events, error } = decode(bytes, size)
      expect(events).toEqual([])
      expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', format: 'kmemtrace', offset: 0, event: 1 })
    }
  })

  it('behind more zeros than are looked at', () => {
    const { events, error } = decode(join(new Uint8Array(96 * 100), new Uint8Array(100).fill(255)), 1000)
    expect(events).toEqual([{ kind: 'lost', count: 400n }])
    expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', offset: 9600, event: 2 })
  })
})

describe('any bytes', () => {
  it('give the same events and error in chunks of any size', () => {
    const near = fc.oneof(fc.constantFrom(0, 0, 0, 1, 2, 24, 32, 40, 48, 56), fc.nat(255))
    const options = fc.constantFrom<KmemtraceDecodeOptions>(
      {},
      { layout: 'relay', byteOrder: 'big' },
      { layout: 'ftrace' },
      { byteOrder: 'little' },
    )
    fc.assert(
      fc.property(
        fc.array(near, { maxLength: 400, size: 'max' }),
        options,
        fc.integer({ min: 1, max: 60 }),
        (bytes, given, size) => {
          const all = decode(Uint8Array.from(bytes), undefined, given)
          const parts = decode(Uint8Array.from(bytes), size, given)
          expect(parts.events).toEqual(all.events)
          expect(parts.headers).toEqual(all.headers)
          expect(parts.error?.message).toBe(all.error?.message)
        },
      ),
      { numRuns: runs(500) },
    )
  })

  it('of records that were damaged do too', () => {
    const record = fc.constantFrom(
      ALLOC,
      FREE,
      { ...FREE, event: 3 },
      { ...FREE, eventSize: 30 },
      { ...ALLOC, tail: Uint8Array.of(1, 2) },
    )
    const order = fc.constantFrom(LITTLE, BIG, { little: true, word: 8 } as const, { little: false, word: 4 } as const)
    fc.assert(
      fc.property(
        order,
        fc.array(record, { maxLength: 12 }),
        fc.array(fc.nat(), { maxLength: 3 }),
        fc.integer({ min: 1, max: 60 }),
        (how, records, bits, size) => {
          const narrow = 'word' in how && how.word === 4 && { callSite: 0xc000_0000n, ptr: 0xd000_0000n }
          const bytes = pack(how, ...records.map((fields) => ({ ...fields, ...narrow })))
          for (const bit of bits) {
            const at = (bit >> 3) % bytes.length
            if (bytes.length > 0) bytes[at] = bytes[at] ^ (1 << (bit & 7))
          }
          const all = decode(bytes)
          const parts = decode(bytes, size)
          expect(parts.events).toEqual(all.events)
          expect(parts.headers).toEqual(all.headers)
          expect(parts.error?.message).toBe(all.error?.message)
        },
      ),
      { numRuns: runs(500) },
    )
  })
})
