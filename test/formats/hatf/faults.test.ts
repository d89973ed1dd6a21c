import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import type { TraceError } from '../../../lib/event/error.js'
import { HatfDecoder, hatf } from '../../../lib/formats/hatf/index.js'
import { decodeAll } from '../../support/drive.js'
import { alloc, comment, hex, join, V1 } from './bytes.js'

const decode = (bytes: Uint8Array, size?: number) => decodeAll(new HatfDecoder(), bytes, size)
const unfolded = (bytes: Uint8Array, size?: number) => decodeAll(new HatfDecoder({ fold: false }), bytes, size)

describe('malformed records', () => {
  it.each([
    ['an unknown tag', '0c', /unknown tag 12/],
    ['an unknown operation', '0b030000', /metadata operation 3/],
    ['operation 0', '0b000000', /metadata operation 0/],
    ['an unknown field', '0b010604', /unknown field 6/],
    ['an unknown width', '0b010003', /unknown width 3 for size/],
    ['a width beyond v2', '0b01050b', /unknown width 11 for attributes/],
    ['v1 for a number', '0b010109', /v1 for address/],
    ['v2 for a number', '0b01030a', /v2 for thread/],
    ['an unknown interpretation', '0b020005', /unknown interpretation 5 for size/],
    ['a delta of attributes', '0b020503 0000000000000000', /attributes are bytes/],
    ['a default for attributes', '0b020501 0000000000000001', /attributes are bytes/],
  ])('%s', (_, digits, message) => {
    const bytes = join(alloc(1, 0x10), alloc(2, 0x20), hex(digits))
    for (const size of [1, 7, undefined]) {
      const { events, error } = decode(bytes, size)
      expect(events.map(({ address }) => address)).toEqual([0x10n, 0x20n])
      expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', format: 'hatf', offset: 18, event: 3 })
      expect(error?.message).toMatch(message)
    }
  })

  it('at the very beginning', () => {
    const { batches, error } = decode(hex('ff'))
    expect(batches).toEqual([])
    expect(error).toMatchObject({ offset: 0, event: 1 })
  })
})

const small = join(
  hex('0b020300 0b010301'),
  V1,
  hex('00 00000010 00001000 05 00'),
  comment('hello'),
  hex('0b020103 0000000000001000 0b010101'),
  hex(
    '00 00000020 20 05 02 6869  01 e0 05 00  03 00000020 00 20 05 00  0b020204 0000000000000000 0000000000000001 01 00 05 00',
  ),
)

describe('a small stream', () => {
  const whole = decode(small)

  it('is what it is meant to be', () => {
    expect(whole.error).toBeUndefined()
    expect(whole.events.map(({ kind }) => kind)).toEqual(['alloc', 'comment', 'realloc', 'free'])
  })

  it('cut anywhere gives its first events, and says so unless it was cut between records', () => {
    const all = unfolded(small)
    for (let length = 0; length < small.length; length++) {
      for (const size of [1, 7, 64, undefined]) {
        const { events, error } = unfolded(small.subarray(0, length), size)
        expect(events).toEqual(all.events.slice(0, events.length))
        if (error) expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', event: events.length + 1 })
        const at = (error as TraceError | undefined)?.offset ?? length
        expect(unfolded(small.subarray(0, at)).error).toBeUndefined()
        expect(unfolded(small.subarray(0, at)).events).toEqual(events)
      }
    }
  })

  it('is given as far as it goes when the input was truncated elsewhere, without a complaint of its own', () => {
    for (let length = 0; length < small.length; length++) {
      const decoder = new HatfDecoder({ fold: false })
      decoder.feed(small.slice(0, length))
      const events = []
      for (let batch = decoder.next(); batch !== null; batch = decoder.next()) events.push(...batch)
      decoder.endTruncated()
      for (let batch = decoder.next(); batch !== null; batch = decoder.next()) events.push(...batch)
      expect(events).toEqual(decodeAll(new HatfDecoder({ fold: false }), small.subarray(0, length)).events)
    }
  })

  it('with any byte changed gives events or a TraceError, the same whatever the chunks', { tags: ['slow'] }, () => {
    for (let i = 0; i < small.length; i++) {
      for (const bit of [1, 2, 8, 128]) {
        const bytes = small.slice()
        bytes[i] = bytes[i] ^ bit
        const [one, seven, all] = [1, 7, undefined].map((size) => decode(bytes, size))
        expect(one?.events).toEqual(all?.events)
        expect(seven?.events).toEqual(all?.events)
        expect(one?.error).toEqual(all?.error)
        expect(seven?.error).toEqual(all?.error)
        if (all?.error) expect(all.error.name).toBe('TraceError')
      }
    }
  })
})

describe('memory', () => {
  it('batches stay small where the chunks are small', () => {
    const bytes = join(...Array.from({ length: 300 }, (_, i) => alloc(i, i)))
    for (const batch of decode(bytes, 18).batches) expect(batch.capacity).toBeLessThan(200)
  })

  it('batches are closed when their strings are large', () => {
    const text = 'x'.repeat(60_000)
    const bytes = join(...Array.from({ length: 20 }, (_, i) => comment(`${i} ${text}`)))
    const { batches, events } = decode(bytes)
    expect(events).toHaveLength(20)
    expect(batches.length).toBeGreaterThan(3)
  })

  it('a chunk may be overwritten once it was read and next has returned null', () => {
    const bytes = join(V1, ...Array.from({ length: 100 }, (_, i) => alloc(i, i, `attributes ${i}`)), comment('the end'))
    const decoder = new HatfDecoder()
    const events: TraceEvent[] = []
    const drain = () => {
      for (let batch = decoder.next(); batch !== null; batch = decoder.next()) events.push(...batch)
    }
    for (let i = 0; i < bytes.length; i += 64) {
      const chunk = bytes.slice(i, i + 64)
      decoder.feed(chunk)
      drain()
      chunk.fill(0xff, 0, decoder.consumed - i)
    }
    decoder.end()
    drain()
    expect(events).toEqual(decode(bytes).events)
  })
})

describe('sniffing', () => {
  it.each([
    ['a record', alloc(16, 0x1000), true],
    ['a record and a part of one', join(alloc(16, 0x1000), hex('00 01')), true],
    ['metadata', hex('0b010108'), true],
    ['a comment', comment('hello'), true],
    ['nothing', hex(''), false],
    ['a part of a record', hex('00 0000'), false],
    ['zeros', new Uint8Array(100), false],
    ['a record and rubbish', join(alloc(16, 0x1000), hex('ff')), false],
    ['text', new Uint8Array(Buffer.from(`\n1: malloc 0x10 16\n${'x'.repeat(10_000)}`)), false],
    ['MTRC', new Uint8Array(Buffer.from('MTRC\x00\x00\x00\x01')), false],
    ['gzip', hex('1f8b0800'), false],
    ['Meta-TF', hex('7f4d5446'), false],
  ])('%s', (_, bytes, expected) => {
    expect(hatf.sniff(bytes)).toBe(expected)
  })
})
