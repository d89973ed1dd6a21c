import { describe, expect, it } from 'vitest'
import { TraceError } from '../../../lib/event/error.js'
import { ReplayDecoder } from '../../../lib/formats/replay/decode.js'
import { replay } from '../../../lib/formats/replay/index.js'
import { REPLAY_HEADER } from '../../../lib/formats/replay/layout.js'
import { drive, slices } from '../../support/drive.js'
import { someOf } from '../../support/runs.js'
import { decode, rewrite } from './text.js'

/** One line of everything the grammar has, in canonical form. */
const ALL = `100: malloc 0xb48390a0 48
200: calloc 0xb48c1100 32 8
300: realloc 0x96b90920 0x93605280 150
300: realloc 0x96b90920 0x0 150
400: memalign 0xae42d080 16 104
500: free 0xb4827400
500: free 0x0
600: thread_done 0x0
-1: malloc 0xffffffffffffffff 18446744073709551615 1 18446744073709551615
7: calloc 0x7f0000001000 0 16 123456789 1234567890
7: calloc 0x7f0000001000 4294967296 4294967297
7: memalign 0x0 4096 1 1234567890123456789 1234567890123456790
7: realloc 0x1 0x2 3 1720000000000000000 1720000000000000123
7: realloc 0x1 0x2 3 4 5 6
7: free 0x1 4 5
7: free 0x1 0 0 4096
-9223372036854775808: thread_done 0x10 99
7: thread_done 0x0 0
`

describe('decoding', () => {
  it('maps every action to its event', () => {
    const { events, headers, error, warnings } = decode(ALL)
    expect(error).toBeUndefined()
    expect(warnings).toEqual([])
    expect(headers).toEqual([{ format: 'replay', timeUnit: 'ns' }])
    expect(events).toEqual([
      { kind: 'alloc', api: 'malloc', thread: 100n, address: 0xb48390a0n, size: 48n },
      { kind: 'alloc', api: 'calloc', thread: 200n, address: 0xb48c1100n, size: 256n, count: 32n },
      { kind: 'realloc', api: 'realloc', thread: 300n, address: 0x96b90920n, oldAddress: 0x93605280n, size: 150n },
      { kind: 'realloc', api: 'realloc', thread: 300n, address: 0x96b90920n, oldAddress: 0n, size: 150n },
      { kind: 'alloc', api: 'memalign', thread: 400n, address: 0xae42d080n, size: 104n, alignment: 16n },
      { kind: 'free', api: 'free', thread: 500n, address: 0xb4827400n },
      { kind: 'free', api: 'free', thread: 500n, address: 0n },
      { kind: 'thread-destroy', thread: 600n },
      {
        kind: 'alloc',
        api: 'malloc',
        thread: 2n ** 64n - 1n,
        address: 2n ** 64n - 1n,
        size: 2n ** 64n - 1n,
        time: 1n,
        endTime: 2n ** 64n - 1n,
      },
      {
        kind: 'alloc',
        api: 'calloc',
        thread: 7n,
        address: 0x7f0000001000n,
        size: 0n,
        count: 0n,
        elementSize: 16n,
        time: 123456789n,
        endTime: 1234567890n,
      },
      {
        kind: 'alloc',
        api: 'calloc',
        thread: 7n,
        address: 0x7f0000001000n,
        size: 2n ** 32n,
        count: 2n ** 32n,
        elementSize: 2n ** 32n + 1n,
      },
      {
        kind: 'alloc',
        api: 'memalign',
        thread: 7n,
        address: 0n,
        size: 1n,
        alignment: 4096n,
        time: 1234567890123456789n,
        endTime: 1234567890123456790n,
      },
      {
        kind: 'realloc',
        api: 'realloc',
        thread: 7n,
        address: 1n,
        oldAddress: 2n,
        size: 3n,
        time: 1720000000000000000n,
        endTime: 1720000000000000123n,
      },
      {
        kind: 'realloc',
        api: 'realloc',
        thread: 7n,
        address: 1n,
        oldAddress: 2n,
        size: 3n,
        time: 4n,
        endTime: 5n,
        present: 6n,
      },
      { kind: 'free', api: 'free', thread: 7n, address: 1n, time: 4n, endTime: 5n },
      { kind: 'free', api: 'free', thread: 7n, address: 1n, time: 0n, endTime: 0n, present: 4096n },
      { kind: 'thread-destroy', thread: 2n ** 63n, address: 16n, endTime: 99n },
      { kind: 'thread-destroy', thread: 7n, endTime: 0n },
    ])
    expect(rewrite(ALL)).toBe(ALL)
  })

  it.each([1, 7, 64])('gives the same in chunks of %i bytes', (size) => {
    expect(decode(ALL, size).events).toEqual(decode(ALL).events)
    expect(decode(ALL, size).headers).toEqual([REPLAY_HEADER])
  })

  it('does not look at a chunk that was followed by another', () => {
    const decoder = new ReplayDecoder()
    let before: Uint8Array | undefined
    const poisoned = (function* () {
      for (const chunk of slices(new Uint8Array(Buffer.from(ALL)), 11)) {
        yield chunk
        before?.fill(0x2a)
        before = chunk
      }
    })()
    const { out, error } = drive(decoder, poisoned)
    expect(error).toBeUndefined()
    expect(out.flatMap((batch) => [...batch])).toEqual(decode(ALL).events)
  })

  it('accepts every way to space and spell a line', () => {
    const plain = '5: malloc 0xab 10\n-6: realloc 0xab 0xcd 0 1 2 3\n7: thread_done 0x0 8\n'
    const variants = [
      '5:malloc 0xab 10\n-6:realloc 0xab 0xcd 0 1 2 3\n7:thread_done 0x0 8\n',
      '5: \t malloc\t0xab  10  \r\n  -6:   realloc 0xab\t\t0xcd 0 1   2 3\t\r\n7: thread_done 0x0 8\r\n',
      '\n\r\n \t\n5: malloc AB 10\n\n-6: realloc 0xAB 0XCd 000 01 02 03\n\n\n7: thread_done 0 8\n\n',
      '005: malloc 0x000000000000000000ab 0000000000000000000000010\n-6: realloc ab cd 0 1 2 3\n07: thread_done 0000000 8\n',
    ]
    for (const variant of variants) expect(rewrite(variant)).toBe(plain)
  })

  it('takes a last line without a line feed as complete only if told to', () => {
    const text = '5: free 0x10\n5: malloc 0x10 51'
    expect(decode(text)).toMatchObject({
      events: [{ kind: 'free' }],
      error: { code: 'ERR_TRACE_TRUNCATED', line: 2, offset: 13, event: 2 },
    })
    expect(decode(text, 1, { lastLine: true })).toMatchObject({
      events: [{ kind: 'free' }, { kind: 'alloc', size: 51n }],
      warnings: [],
    })
  })

  it('leaves a line without a newline out when the input was truncated elsewhere', () => {
    const decoder = new ReplayDecoder()
    decoder.feed(Buffer.from('5: free 0x10\n5: malloc 0x10 51'))
    expect(decoder.next()?.count).toBe(1)
    expect(decoder.next()).toBeNull()
    decoder.endTruncated()
    expect(decoder.next()).toBeNull()
  })

  it('gives a header for an empty dump', () => {
    for (const text of ['', '\n', ' \r\n\n'])
      expect(decode(text)).toMatchObject({ events: [], headers: [REPLAY_HEADER] })
  })

  it('gives out what it has when a chunk is used up', () => {
    const decoder = new ReplayDecoder()
    for (const line of ALL.split(/(?<=\n)/)) {
      decoder.feed(Buffer.from(line))
      expect(decoder.next()?.count).toBe(1)
      expect(decoder.next()).toBeNull()
    }
  })

  it('keeps batches within their limit', () => {
    const { batches, events } = decode('5: free 0x10\n'.repeat(10_000))
    expect(events).toHaveLength(10_000)
    expect(Math.max(...batches.map((batch) => batch.count))).toBe(4096)
    expect(decode('5: free 0x10\n'.repeat(3)).batches[0]?.capacity).toBe(3)
  })
})

describe('faults', () => {
  const before = '5: free 0x10\r\n\n'

  it.each([
    ['x', 1, 'a thread id'],
    ['-x', 2, 'a thread id'],
    ['+5: free 0x1', 1, 'a thread id'],
    ['5 : free 0x1', 2, 'a colon'],
    ['5; free 0x1', 2, 'a colon'],
    ['9223372036854775808: free 0x1', 1, 'a thread id'],
    ['-9223372036854775809: free 0x1', 2, 'a thread id'],
    ['5: fred 0x1', 7, 'malloc, calloc, memalign, realloc, free or thread_done'],
    ['5: mammal 0x1', 6, 'malloc, calloc'],
    ['5: MALLOC 0x1 1', 4, 'malloc, calloc'],
    ['5: freedom 0x1', 8, 'a pointer'],
    ['5: free', 8, 'a pointer'],
    ['5: free  ', 10, 'a pointer'],
    ['5: free 0x', 11, 'a pointer'],
    ['5: free 0xg', 11, 'a pointer'],
    ['5: free -1', 9, 'a pointer'],
    ['5: free 0x10000000000000000', 9, 'a pointer'],
    ['5: malloc 0x1', 14, 'a pointer and a size'],
    ['5: malloc 0x1,5', 14, 'a pointer and a size'],
    ['5: malloc 0x1 0x5', 16, 'two times or the end of the line'],
    ['5: malloc 0x1 -5', 15, 'a pointer and a size'],
    ['5: malloc 0x1 18446744073709551616', 15, 'a pointer and a size'],
    ['5: malloc 0x1 99999999999999999999', 15, 'a pointer and a size'],
    ['5: malloc 0x1 123456789012345678901', 15, 'a pointer and a size'],
    ['5: calloc 0x1 5', 16, 'a pointer and two sizes'],
    ['5: memalign 0x1 5', 18, 'a pointer, an alignment and a size'],
    ['5: realloc 0x1 5', 17, 'two pointers and a size'],
    ['5: malloc 0x1 5 6', 18, 'two times or the end of the line'],
    ['5: malloc 0x1 5 6 x', 19, 'two times or the end of the line'],
    ['5: malloc 0x1 5 6 7 8', 21, 'the end of the line'],
    ['5: free 0x1 6 7 8 9', 19, 'the end of the line'],
    ['5: free 0x1 6 7 x', 17, 'the resident bytes or the end of the line'],
    ['5: thread_done 0x0 x', 20, 'a time or the end of the line'],
    ['5: thread_done 0x0 6 7', 22, 'the end of the line'],
    ['5: free 0x1 \r5', 13, 'two times or the end of the line'],
    ['5: free 0x1\0', 12, 'two times or the end of the line'],
    ['\r5: free 0x1', 2, 'a line feed'],
  ])('%j', (line, column, expected) => {
    const whole = `${before}${line}\n5: free 0x10\n`
    for (const size of [whole.length, 1, 7]) {
      const { events, error } = decode(whole, size)
      expect(events).toHaveLength(1)
      expect(error).toMatchObject({
        code: 'ERR_TRACE_MALFORMED',
        format: 'replay',
        line: 3,
        column,
        offset: before.length + column - 1,
        event: 2,
      })
      expect(error?.message).toContain(`expected ${expected}`)
    }
  })

  it('tells a cut line from a broken one', () => {
    const cut = (text: string) => decode(text, 9, { lastLine: true })
    expect(cut('5: free 0x10\n5: mal').error).toMatchObject({
      code: 'ERR_TRACE_TRUNCATED',
      line: 2,
      column: 7,
      offset: 19,
      event: 2,
    })
    expect(cut('5: free 0x10\n5: mad').error).toMatchObject({
      code: 'ERR_TRACE_MALFORMED',
      line: 2,
      column: 6,
      offset: 18,
      event: 2,
    })
  })

  it('delivers the lines before any place where a dump is cut', () => {
    const ends = [...ALL.matchAll(/\n/g)].map((match) => match.index)
    const { events: all } = decode(ALL)
    for (const length of someOf(ALL.length + 1)) {
      const { events, error } = decode(ALL.slice(0, length), length % 3 === 0 ? 5 : undefined)
      const before = ends.filter((end) => end < length)
      expect(events).toEqual(all.slice(0, before.length))
      const offset = (before.at(-1) ?? -1) + 1
      if (offset === length) expect(error).toBeUndefined()
      else expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', offset, event: before.length + 1 })
    }
  })

  it('survives every flipped bit', () => {
    const { events: all } = decode(ALL)
    const bytes = new Uint8Array(Buffer.from(ALL))
    for (const bit of someOf(bytes.length * 8)) {
      const flipped = bytes.slice()
      flipped[bit >> 3] = flipped[bit >> 3] ^ (1 << (bit & 7))
      const { events, error } = decode(Buffer.from(flipped).toString('latin1'))
      const whole = ALL.slice(0, bit >> 3).split('\n').length - 1
      expect(events.slice(0, whole)).toEqual(all.slice(0, whole))
      if (error) {
        expect(error).toBeInstanceOf(TraceError)
        expect((error as TraceError).event).toBe(events.length + 1)
      }
    }
  })

  it('bounds lines, whether their end is there or not, in chunks of any size', () => {
    const fits = `5: free 0x1${' '.repeat(65_536 - 12)}\n`
    expect(decode(fits).error).toBeUndefined()
    const long = [
      `5: free 0x1${' '.repeat(65_536)}\n`,
      `5: free 0x${'0'.repeat(100_000)}`,
      `5: mall${'o'.repeat(70_000)}\n`,
      ' '.repeat(1e6),
    ]
    for (const text of long) {
      for (const size of [text.length + 13, 1000]) {
        const { events, error } = decode(`5: free 0x1\n${text}`, size)
        expect(events).toHaveLength(1)
        expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', line: 2, column: 1, offset: 12, event: 2 })
      }
    }
  })

  it('counts offsets, lines and events on across batches and chunks', () => {
    const text = `${'5: free 0x10\n'.repeat(9_999)}bad\n`
    for (const size of [1000, 65_536, text.length]) {
      expect(decode(text, size).error).toMatchObject({ line: 10_000, column: 1, offset: 9_999 * 13, event: 10_000 })
    }
  })
})

describe('sniffing', () => {
  it('knows a dump by its first line', () => {
    const sniff = (text: string) => replay.sniff(new Uint8Array(Buffer.from(text)))
    for (const line of ALL.trim().split('\n')) expect(sniff(line)).toBe(true)
    expect(sniff('\r\n\n 5:malloc\tab 1')).toBe(true)
    for (const other of [
      '',
      '5: mallo',
      'MTRC',
      '{"kind":"alloc"}',
      '0-0 old 0x10 16 novtbl',
      '1 48 0x10',
      '5: free',
      'a 5: free 0x1',
    ]) {
      expect(sniff(other)).toBe(false)
    }
  })
})
