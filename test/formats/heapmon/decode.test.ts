import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { HeapmonDecoder } from '../../../lib/formats/heapmon/decode.js'
import { heapmon } from '../../../lib/formats/heapmon/index.js'
import { headerOf } from '../../../lib/formats/heapmon/layout.js'
import { drive, slices } from '../../support/drive.js'
import { splitCrawl } from './reference.js'
import { decode, FULL_CRAWL, rewrite, SAMPLE } from './text.js'

const SAMPLE_EVENTS = [
  {
    kind: 'free',
    api: 'delete',
    process: 2n,
    thread: 22982n,
    time: 759537687555872n,
    address: 0xb2362718n,
    type: 'TIterator',
    stack: ['TArrayIterator...'],
  },
  {
    kind: 'alloc',
    api: 'new',
    process: 2n,
    thread: 22982n,
    time: 759537687558595n,
    address: 0xb2362950n,
    size: 12n,
    stack: ['THybridNumber...'],
  },
  { kind: 'existing', address: 0xb24020d0n, size: 48n, type: 'TLocalSemaphore' },
]
const TAB_HEADER = headerOf({ headerRow: false, separator: 'tab', indent: 0 })
const LINE = '2-7\t5\t0x10\tdel\tnovtbl\n'

describe('decoding', () => {
  it("reads the format's own example, and writes it again byte for byte", () => {
    const { events, headers, error, warnings } = decode(SAMPLE)
    expect(error).toBeUndefined()
    expect(warnings).toEqual([])
    expect(headers).toEqual([
      { format: 'heapmon', timeUnit: 'us', layout: { headerRow: true, separator: 'spaces', indent: 6 } },
    ])
    expect(events).toEqual(SAMPLE_EVENTS)
    expect(rewrite(SAMPLE)).toBe(SAMPLE)
  })

  it.each(['\t', '    ', ' '])('reads the full crawl behind %j', (gap) => {
    const line = ['2-22982', '759537687555872', '0xb2362718', 'del', 'TArrayIterator', FULL_CRAWL].join(gap)
    const { events } = decode(`${line}\n`)
    expect(events).toMatchObject([{ type: 'TArrayIterator', stack: splitCrawl(FULL_CRAWL) }])
    if (gap === '\t') expect(rewrite(`${line}\n`)).toBe(`${line}\n`)
  })

  it.each([1, 7, 64])('gives the same in chunks of %i bytes', (size) => {
    expect(decode(SAMPLE, size).events).toEqual(SAMPLE_EVENTS)
    expect(decode(SAMPLE, size).headers).toEqual(decode(SAMPLE).headers)
  })

  it('does not look at a chunk that was followed by another', () => {
    const text = SAMPLE + SAMPLE.split('\n').slice(1).join('\n').repeat(20)
    let before: Uint8Array | undefined
    const poisoned = (function* () {
      for (const chunk of slices(new Uint8Array(Buffer.from(text)), 301)) {
        yield chunk
        before?.fill(0x2a)
        before = chunk
      }
    })()
    const { out, error } = drive(new HeapmonDecoder(), poisoned)
    expect(error).toBeUndefined()
    expect(out.flatMap((batch) => [...batch])).toEqual(decode(text).events)
  })

  it.each<[string, string | undefined, string[] | undefined]>([
    ['1-1\t1\t0x1\tdel\tunsigned long\tf()|g', 'unsigned long', ['f()', 'g']],
    ['1-1\t1\t0x1\tdel\tTArray<int, char>\tf(a, b)', 'TArray<int, char>', ['f(a, b)']],
    ['1-1  1  0x1  del  unsigned long  f()', 'unsigned long', ['f()']],
    ['1-1 1 0x1  del TArray<int, char>   f()', 'TArray<int, char>', ['f()']],
    ['1-1 1 0x1 del unsigned long f', 'unsigned', ['long f']],
    ['1-1 1 0x1 del unsigned\tlong  f', 'unsigned', ['long  f']],
    ['1-1  1 0x1 del TFoo f()', 'TFoo f()', undefined],
    ['1-1\t1\t0x1\tdel\tnovtbl f(int)', undefined, ['f(int)']],
    ['1-1\t1\t0x1\tdel\tnotype f(int)|g', 'notype', ['f(int)', 'g']],
    ['1-1\t1\t0x1\tdel\tnotype', 'notype', undefined],
    ['1-1\t1\t0x1\tdel\tnovtbls', 'novtbls', undefined],
    ['1-1\t1\t0x1\tdel\tnovtbl', undefined, undefined],
    ['1-1\t1\t0x1\tdel\tnovtbl\r', undefined, undefined],
    ['1-1\t1\t0x1\tdel \t ', undefined, undefined],
    ['1-1\t1\t0x1\tdel\r', undefined, undefined],
    ['1-1\t1\t0x1\tdel', undefined, undefined],
    ['1-1\t1\t0x1\tdel\tT U \r', 'T U', undefined],
    ['1-1\t1\t0x1\tdel\tT\tf | g \t\r', 'T', ['f ', ' g']],
    ['1-1\t1\t0x1\tdel\t\t\tT\t\t f\tg  h', 'T', ['f\tg  h']],
    ['1-1\t1\t0x1\tdel\t\xff\t|\xfe', '\udcff', ['', '\udcfe']],
  ])('%j', (line, type, stack) => {
    const { events, error } = decode(`${line}\n`)
    expect(error).toBeUndefined()
    expect(events).toEqual([
      {
        kind: 'free',
        api: 'delete',
        process: 1n,
        thread: 1n,
        time: 1n,
        address: 1n,
        ...(type !== undefined && { type }),
        ...(stack && { stack }),
      },
    ])
  })

  it('takes 0 for no process and no thread', () => {
    const { events } = decode('0-0\told\t0x1\t2\tT\n0-5\t6\t0x1\t2\n7-0\t6\t0x1\t2\n0-0\t6\t0x1\t2\n3-4\told\t0x1\t2\n')
    expect(events.map(({ process, thread }) => [process, thread])).toEqual([
      [undefined, undefined],
      [undefined, 5n],
      [7n, undefined],
      [undefined, undefined],
      [3n, 4n],
    ])
  })

  it('accepts other spellings and gives them back in one', () => {
    const plain = '2-7\t5\t0xab\tdel\tT U\tf|g\n0-0\told\t0x1\t3\tT\n2-7\t5\t0x0\t0\tnovtbl\n'
    const variants = [
      plain.replaceAll('\n', '\r\n'),
      `\n \t\r\n${plain.replaceAll('\n', ' \t\n\n')}`,
      plain.replaceAll('\t', ' \t '),
      '002-07\t05\t0X00000000000000000000AB\tdel\tT U\tf|g\n0-0\told\t0x01\t3\tT\n2-7\t5\t0x0\t00\n',
    ]
    for (const variant of variants) expect(decode(variant).events).toEqual(decode(plain).events)
    for (const variant of [...variants.slice(0, 2), variants[3]!]) expect(rewrite(variant)).toBe(plain)
  })

  it.each<[string, object]>([
    ['1-1\told\t0x1\t2\n', { headerRow: false, separator: 'tab', indent: 0 }],
    ['   1-1 old\t0x1\t2\n', { headerRow: false, separator: 'spaces', indent: 3 }],
    [' \t 1-1\told 0x1 2\n', { headerRow: false, separator: 'tab', indent: 0 }],
    [`${' '.repeat(65)}1-1\told 0x1 2\n`, { headerRow: false, separator: 'tab', indent: 0 }],
    [
      '\r\n\nThread\tTime of\tevent Address Size Type Stack  crawl\t\r\n',
      { headerRow: true, separator: 'tab', indent: 0 },
    ],
    ['', { headerRow: false, separator: 'tab', indent: 0 }],
    ['\n \r\n', { headerRow: false, separator: 'tab', indent: 0 }],
  ])('knows the layout of %j', (text, layout) => {
    for (const size of [1, 1000]) {
      const { headers, error } = decode(text, size)
      expect(error).toBeUndefined()
      expect(headers).toEqual([{ format: 'heapmon', timeUnit: 'us', layout }])
    }
  })

  it('gives the header and each line as soon as it is there', () => {
    const decoder = new HeapmonDecoder()
    for (const [i, line] of SAMPLE.split(/(?<=\n)/).entries()) {
      decoder.feed(Buffer.from(line))
      expect(decoder.next()?.count).toBe(i === 0 ? 0 : 1)
      expect(decoder.next()).toBeNull()
    }
    decoder.end()
    expect(decoder.next()).toBeNull()
  })

  it('takes a header row after other lines as the beginning of another trace', () => {
    const headerRow = `${SAMPLE.split('\n')[0]}\n`
    for (const text of [SAMPLE + SAMPLE, LINE + SAMPLE, headerRow + headerRow + headerRow, LINE + headerRow]) {
      for (const size of [1, 100, 10_000]) {
        const { headers, events, error } = decode(text, size)
        expect(error).toBeUndefined()
        // One header for each header row, and one for a file without; one event for each other line.
        expect(headers.length + events.length).toBe(text.trimEnd().split('\n').length + (text.startsWith('2') ? 1 : 0))
      }
      expect(rewrite(text)).toBe(text)
    }
  })

  it('takes a last line without a line feed as complete only if told to', () => {
    const text = `${LINE}1-1\t2\t0x3\t45`
    const cut = decode(text)
    expect(cut.events).toHaveLength(1)
    expect(cut.error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', line: 2, offset: LINE.length, event: 2 })
    const { events, warnings, error } = decode(text, 1, { lastLine: true })
    expect(error).toBeUndefined()
    expect(events[1]?.size).toBe(45n)
    expect(warnings).toEqual([])
  })

  it('leaves a line without a newline out when the input was truncated elsewhere', () => {
    const decoder = new HeapmonDecoder()
    decoder.feed(Buffer.from(`${LINE}1-1\t2\t0x3\t45`))
    expect(decoder.next()?.count).toBe(1)
    expect(decoder.next()).toBeNull()
    decoder.endTruncated()
    expect(decoder.next()).toBeNull()
  })

  it('keeps batches within their limits', () => {
    const { batches } = decode(LINE.repeat(10_000))
    expect(batches.reduce((sum, batch) => sum + batch.count, 0)).toBe(10_000)
    expect(Math.max(...batches.map((batch) => batch.count))).toBe(4096)
    const crawls = Array.from({ length: 1000 }, (_, i) => `1-1\t1\t0x1\t1\tnovtbl\t${String(i).repeat(500)}\n`).join('')
    for (const batch of decode(crawls).batches) expect(batch.strings.byteLength).toBeLessThan(262_144 + 2000)
  })

  it('reads crawls right when there are more than it remembers', () => {
    const lines = Array.from({ length: 12_000 }, (_, i) => `1-1\t1\t0x1\t1\tT${i % 70}\tf${i % 5000}()|g${i}|main\n`)
    const { events } = decode(lines.join('') + lines.join(''), 20_000)
    expect(events).toHaveLength(24_000)
    events.forEach(({ type, stack }, i) => {
      const n = i % 12_000
      if (type !== `T${n % 70}` || stack?.join('|') !== `f${n % 5000}()|g${n}|main`)
        expect({ i, type, stack }).toBeUndefined()
    })
  })
})

describe('faults', () => {
  it.each([
    ['x', 1, 'a thread'],
    ['1', 2, 'a thread'],
    ['1-', 3, 'a thread'],
    ['-1-1', 1, 'a thread'],
    ['18446744073709551616-1\t1', 1, 'a thread'],
    ['1-18446744073709551616\t1', 3, 'a thread'],
    ['1-1', 4, 'a time or "old"'],
    ['1-1x', 4, 'a time or "old"'],
    ['1-1  ', 6, 'a time or "old"'],
    ['1-1\tx', 5, 'a time or "old"'],
    ['1-1\tolx', 7, 'a time or "old"'],
    ['1-1\t18446744073709551616', 5, 'a time or "old"'],
    ['1-1\tolder\t0x1', 8, 'an address'],
    ['1-1\t5', 6, 'an address'],
    ['1-1\t5\tab', 7, 'an address'],
    ['1-1\t5\t0', 8, 'an address'],
    ['1-1\t5\t0x', 9, 'an address'],
    ['1-1\t5\t0xg', 9, 'an address'],
    ['1-1\t5\t0x10000000000000000', 9, 'an address'],
    ['1-1\t5\t0x1', 10, 'a size or "del"'],
    ['1-1\t5\t0x1\tdex', 13, 'a size or "del"'],
    ['1-1\t5\t0x1\t-1', 11, 'a size or "del"'],
    ['1-1\told\t0x1\tdel', 13, 'a size'],
    ['1-1\t5\t0x1\tdelete', 14, 'a type or the end of the line'],
    ['1-1\t5\t0x1\t5,', 12, 'a type or the end of the line'],
    ['1-1\t5\t0x1\t5\r\r', 12, 'a type or the end of the line'],
    ['Thready', 7, 'a thread'],
    ['Thread  Time of event  Address', 31, 'a thread'],
  ])('%j', (line, column, expected) => {
    const before = `${LINE}\r\n`
    const whole = `${before}${line}\n${LINE}`
    for (const size of [whole.length, 1, 7]) {
      const { events, error } = decode(whole, size)
      expect(events).toHaveLength(1)
      expect(error).toMatchObject({
        code: 'ERR_TRACE_MALFORMED',
        format: 'heapmon',
        line: 3,
        column,
        offset: before.length + column - 1,
        event: 2,
      })
      expect(error?.message).toContain(`expected ${expected}`)
    }
  })

  it('tells a cut line from a broken one', () => {
    for (const [line, at] of [
      ['1', 2],
      ['1-1\tol', 7],
      ['1-1\t5\t0x', 9],
      ['1-1\t5\t0x1\tde', 13],
      ['Thread Time o', 14],
    ] as const) {
      expect(decode(LINE + line, 9, { lastLine: true }).error).toMatchObject({
        code: 'ERR_TRACE_TRUNCATED',
        line: 2,
        column: at,
        event: 2,
      })
      expect(decode(`${LINE}${line}\n`).error).toMatchObject({
        code: 'ERR_TRACE_MALFORMED',
        line: 2,
        column: at,
        event: 2,
      })
    }
  })

  it('bounds lines, whether their end is there or not, in chunks of any size', () => {
    const max = 1 << 20
    const head = '1-1\t1\t0x1\tdel\tT\t'
    expect(decode(`${head}${'f'.repeat(max - head.length - 1)}\n`).error).toBeUndefined()
    const long = [
      `${head}${'f'.repeat(max)}\n`,
      `${head}${'f|'.repeat(max)}`,
      `1-1\t1\t0x${'0'.repeat(max)}`,
      ' '.repeat(max * 2),
      `T${'x'.repeat(max)}\n`,
    ]
    for (const text of long) {
      for (const size of [text.length + 99, 50_000]) {
        const { events, error } = decode(LINE + text, size)
        expect(events).toHaveLength(1)
        expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', line: 2, column: 1, offset: LINE.length, event: 2 })
      }
    }
  })

  it('counts offsets, lines and events on across batches and chunks', () => {
    const text = `${LINE.repeat(9_999)}bad\n`
    for (const size of [1000, 65_536, text.length]) {
      expect(decode(text, size).error).toMatchObject({
        line: 10_000,
        column: 1,
        offset: 9_999 * LINE.length,
        event: 10_000,
      })
    }
  })
})

describe('leaving out bad lines', () => {
  const skip = { skipBad: true }

  it('reports the first with their place, and counts all', () => {
    const text = `${LINE}1-1\t5\tab\n${LINE}${'x\n'.repeat(7)}${LINE}Thready\n`
    for (const size of [1, 7, text.length]) {
      const { events, error, warnings } = decode(text, size, skip)
      expect(error).toBeUndefined()
      expect(events).toHaveLength(3)
      expect(warnings).toHaveLength(6)
      expect(warnings[0]).toBe('heapmon: line 2, column 7, byte 28: left out: expected an address')
      expect(warnings[1]).toBe('heapmon: line 4, column 1, byte 53: left out: expected a thread')
      expect(warnings[5]).toBe('heapmon: 9 lines that fit no rule left out')
    }
  })

  it('says nothing where there is none', () => {
    expect(decode(SAMPLE, undefined, skip)).toMatchObject({ events: SAMPLE_EVENTS, warnings: [] })
  })

  it('works on the first line and on a cut last one', () => {
    const { events, headers, warnings } = decode(`junk\n${LINE}1-1`, 5, { ...skip, lastLine: true })
    expect(events).toHaveLength(1)
    expect(headers).toEqual([TAB_HEADER])
    expect(warnings).toEqual([
      'heapmon: line 1, column 1, byte 0: left out: expected a thread',
      'heapmon: line 3, column 4, byte 30: left out: the last line is incomplete: expected a time or "old"',
      'heapmon: 2 lines that fit no rule left out',
    ])
  })

  it('passes over lines without end in bounded memory', async () => {
    const decoder = new HeapmonDecoder(skip)
    const chunk = Buffer.alloc(65_536, 0x61)
    let events = 0
    const feed = (bytes: Uint8Array) => {
      decoder.feed(bytes)
      for (let batch = decoder.next(); batch !== null; batch = decoder.next()) events += batch.count
    }
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    feed(Buffer.from(LINE))
    const before = process.memoryUsage().arrayBuffers
    for (let i = 0; i < 1000; i++) feed(chunk)
    // What a collection frees is counted when another thread has freed it.
    const growth = () => {
      collect()
      return process.memoryUsage().arrayBuffers - before
    }
    await expect.poll(growth).toBeLessThan(20e6)
    feed(Buffer.from(`end\n${LINE}`))
    decoder.end()
    expect(decoder.next()).toBeNull()
    expect(events).toBe(2)
    expect(decoder.warnings).toEqual([
      'heapmon: line 2, column 1, byte 22: left out: a line of more than 1048576 bytes',
      'heapmon: 1 line that fits no rule left out',
    ])
  })

  it('leaves out long lines that are there as a whole', () => {
    const text = `${LINE}1-1\t1\t0x1\tdel\tT\t${'f'.repeat(1 << 20)}\n${LINE}`
    expect(decode(text, undefined, skip).events).toHaveLength(2)
    expect(decode(text, 100_000, skip).warnings).toEqual(decode(text, undefined, skip).warnings)
  })
})

describe('sniffing', () => {
  it('knows a file by its first line', () => {
    const sniff = (text: string) => heapmon.sniff(new Uint8Array(Buffer.from(text)))
    for (const line of SAMPLE.split('\n').slice(0, 4)) expect(sniff(line)).toBe(true)
    expect(sniff(`\r\n${LINE}`)).toBe(true)
    expect(sniff(SAMPLE.slice(0, 64))).toBe(true)
    for (const other of [
      '',
      '2-22982',
      '1-1 old 0x1 del',
      '1-1 5 0x1',
      '1-1 5 0x1 5x',
      '5: free 0x10',
      'MTRC',
      '{"kind":"alloc"}',
      'Thread 1',
      'a 1-1 5 0x1 5',
    ]) {
      expect(sniff(other)).toBe(false)
    }
  })
})
