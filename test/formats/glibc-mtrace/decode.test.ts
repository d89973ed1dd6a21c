import fc from 'fast-check'
import { sniff } from '../../../lib/formats/glibc-mtrace/sniff.js'
import { describe, expect, it } from 'vitest'
import type { TextDecodeOptions } from '../../../lib/event/format.js'
import type { TraceEvent } from '../../../lib/event/trace-event.js'
import { MtraceDecoder } from '../../../lib/formats/glibc-mtrace/decode.js'
import { MtraceEncoder } from '../../../lib/formats/glibc-mtrace/encode.js'
import { MAX_LINE } from '../../../lib/formats/glibc-mtrace/layout.js'
import { decodeLines } from '../../oracle/glibc-mtrace/decode.js'
import { decodeAll, encodeAll, slices, type Decoded } from '../../support/drive.js'
import { runs } from '../../support/runs.js'

function decode(text: string, size?: number, options?: TextDecodeOptions): Decoded & { warnings: string[] } {
  const decoder = new MtraceDecoder(options)
  return { ...decodeAll(decoder, new Uint8Array(Buffer.from(text, 'latin1')), size), warnings: decoder.warnings }
}

const pointer = fc.constantFrom(
  '0x10',
  '0x55cc39c052a0',
  '0xffffffffffffffff',
  '(nil)',
  '0x1ffffffffffffffff',
  '0x',
  '10',
  '',
)
const size = fc.constantFrom(' 0', ' 0x12', ' 0x3fffffffffffffff', ' 0x0', ' 12', '', ' 0x12 ')
const place = fc.constantFrom(
  '',
  '@ ./a:[0x10] ',
  '@ ./a:(main+2b)[0x10] ',
  '@ ./a:(main+0x2b)[0x7fff0010] ',
  '@ ./a b:(c):[0x10] ',
  '@ (f-1)[0x0] ',
  '@ ./a:()[0x10] ',
  '@ ./a:(+1)[0x10] ',
  '@ [0x1234] ',
  '@ [0x01234] ',
  '@ [(nil)] ',
  '[0x1234] ',
  '@ ./a[0x10] ',
  '@ ./a:[0x10]',
  '@ ',
  '@ ./a:[0x] ',
  '@ ./a]:[0x1] + ./b:[0x10] ',
)
const line = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(place, fc.constantFrom('+ ', '- ', '< ', '> ', '! '), pointer, size)
      .map((parts) => parts.join('')),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(place, fc.constantFrom('+ 0x10 0x20', '- 0x10', '< 0x10', '> 0x10 0x30', '! 0x10 0x40'))
      .map((parts) => parts.join('')),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('= Start', '= End', '', '=', 'x', '@ ./a:[0x1] < 0x10@ ./a:[0x1] > 0x10 0x20'),
  },
)

describe('reading', () => {
  it('gives what regular expressions find, in pieces of any size', () => {
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 8 }),
        fc.integer({ min: 1, max: 300 }),
        fc.boolean(),
        (lines, step, start) => {
          const text = `${start ? '= Start\n' : ''}${lines.map((one) => `${one}\n`).join('')}`
          const { events, error } = decode(text, step, { lastLine: true })
          expect(error).toBeUndefined()
          expect(events).toEqual(decodeLines(text))
        },
      ),
      { numRuns: runs(3000) },
    )
  })

  it('takes a realloc to 0 bytes, which glibc up to 2.17 recorded like a failed one', () => {
    const { events, batches, warnings } = decode('= Start\n+ 0x10 0x20\n@ ./a:[0x1] ! 0x10 0\n! (nil) 0\n')
    expect(events.slice(1)).toEqual([
      { kind: 'realloc', address: 0n, oldAddress: 16n, size: 0n, callSite: 1n, module: './a' },
      { kind: 'realloc', address: 0n, oldAddress: 0n, size: 0n },
    ])
    expect(warnings).toEqual([])
    expect(new TextDecoder().decode(encodeAll(new MtraceEncoder({ strict: true }), batches))).toBe(
      '= Start\n+ 0x10 0x20\n@ ./a:[0x1] ! 0x10 0\n! (nil) 0\n',
    )
  })

  it('joins the two lines of a realloc, wherever the input is divided', () => {
    const text = '= Start\n@ ./a:[0x1] < 0x10\n@ ./a:[0x1] > 0x20 0x30\n'
    for (let step = 1; step < text.length; step++)
      expect(decode(text, step).events).toEqual([
        { kind: 'realloc', address: 32n, oldAddress: 16n, size: 48n, callSite: 1n, module: './a' },
      ])
  })

  it('joins the two lines of a realloc whose places differ only in digits', () => {
    const lines = (first: string, second: string) =>
      decode(`@ ${first} < 0x10\n@ ${second} > 0x20 0x30\n`).events.length
    expect(lines('./a:(f+0x2)[0x1]', './a:(f+0x2)[0x0001]')).toBe(1)
    expect(lines('[0x0]', '[(nil)]')).toBe(1)
    expect(lines('./a:(f+0x2)[0x1]', './a:(f+0x2)[0x2]')).toBe(2)
    expect(lines('./a:(f+0x2)[0x1]', './a:(f+0x3)[0x01]')).toBe(2)
    expect(lines('./a:(f+0x2)[0x1]', './a:(g+0x2)[0x01]')).toBe(2)
    expect(lines('./a:(f+0x2)[0x1]', './b:(f+0x2)[0x01]')).toBe(2)
    expect(lines('./a:(f+0x2)[0x1]', './a:(f)[0x01]')).toBe(2)
  })

  it('gives the old block of a realloc alone where the new one is missing, and says so at the end', () => {
    const text = '= Start\n< 0x10\n- 0x20\n< 0x30\n'
    const all: TraceEvent[] = [
      { kind: 'realloc', oldAddress: 16n, outcome: 'freed' },
      { kind: 'free', address: 32n },
      { kind: 'realloc', oldAddress: 48n, outcome: 'freed' },
    ]
    const cut = decode(text, 4)
    expect(cut.events).toEqual(all.slice(0, 2))
    expect(cut.error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', line: 4, offset: 22, event: 3 })
    const { events, warnings } = decode(text, 4, { lastLine: true })
    expect(events).toEqual(all)
    expect(warnings).toEqual([
      "glibc-mtrace: line 4, event 3: the last line is the first of a realloc's two, so the trace may be cut",
    ])
  })

  it('takes a last line without a line feed as complete only if told to', () => {
    const text = '= Start\n- 0x5\n+ 0x10 0x2'
    expect(decode(text)).toMatchObject({
      events: [{ kind: 'free' }],
      error: { code: 'ERR_TRACE_TRUNCATED', line: 3, offset: 14, event: 2 },
    })
    expect(decode(text, 1, { lastLine: true })).toMatchObject({
      events: [{ kind: 'free' }, { kind: 'alloc', size: 2n }],
      warnings: [],
    })
    const { events, error } = decode('= Start\n- 0x10\n@ ./a:[0x1')
    expect(events).toHaveLength(1)
    expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', format: 'glibc-mtrace', line: 3, offset: 15, event: 2 })
  })

  it('keeps what is no event as comments, and says how many', () => {
    const { events, warnings } = decode('= Start\n= End\n= Start\nwhat\n\n')
    expect(events.map(({ text }) => text)).toEqual(['= End', '= Start', 'what', ''])
    expect(warnings).toEqual(['glibc-mtrace: lines that are no events, kept as comments: 2; the first is line 4'])
  })

  it.each([
    ['a line', 'x'.repeat(MAX_LINE)],
    ['a file', `@ ${'x'.repeat(MAX_LINE)}:[0x1] - 0x10`],
    ['a line behind the old block of a realloc', `< 0x10\n${'x'.repeat(400_000)}`],
    ['an endless line', 'x'.repeat(1_000_000)],
  ])('refuses %s that is too long', (_, text) => {
    const before = [
      { kind: 'free', address: 1n },
      ...(text[0] === '<' ? [{ kind: 'realloc', oldAddress: 16n, outcome: 'freed' }] : []),
    ]
    for (const end of ['\n', '\n+ 0x1 0x2\n']) {
      for (const step of [1000, 65_536, 10_000_000]) {
        const { error, events } = decode(`= Start\n- 0x1\n${text}${end}`, step)
        expect(events).toEqual(before)
        expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', event: events.length + 1 })
      }
    }
  })

  it('reads very many places, and closes batches before their strings fill memory', { tags: ['slow'] }, () => {
    const text = Array.from(
      { length: 60_000 },
      (_, i) => `@ ./prog:(function_${i}+1)[0x${i + 1}] + 0x10 0x${i + 1}\n`,
    ).join('')
    const { events, batches } = decode(text, 65_536)
    expect(events).toHaveLength(60_000)
    expect(
      events.every((event, i) => event.function === `function_${i}` && event.callSite === BigInt(`0x${i + 1}`)),
    ).toBe(true)
    expect(Math.max(...batches.map(({ strings }) => strings.byteLength))).toBeLessThan(400_000)
  })

  it('reads what is there of the input without the one behind it', () => {
    const decoder = new MtraceDecoder()
    const chunks = [...slices(new Uint8Array(Buffer.from('= Start\n+ 0x1 0x2\n+ 0x2')))]
    decoder.feed(chunks[0])
    expect(decoder.next()?.count).toBe(1)
    expect(decoder.next()).toBeNull()
  })
})

describe('the first bytes', () => {
  const sniffs = (text: string) => sniff(Buffer.from(text))

  it.each([
    '= Start',
    '= Start\n',
    '- 0x10\n',
    '- 0x10',
    '+ 0x10 0x20\n',
    '@ ./a:[0x1] + 0x10 0\n',
    '> (nil) 0x20\n',
    '! 0x10 0x20',
    '< 0x10\r\n',
  ])('of a trace are recognized: %j', (text) => {
    expect(sniffs(text)).toBe(true)
  })

  it.each([
    "- 0x0000559ceacb2d00 Free 18511 was never alloc'd 0x1372\n",
    '+ 0x000055cc39c054a0 Alloc 9 duplicate: 0x11be ./fk:[0x11be]\n',
    '+ 0x0000559ceac94580 Realloc 3997 duplicate: 0x00000820 0x128e 0x12ff\n',
    '\nMemory not freed:\n-----------------\n',
    '= Starting\n',
    '- a list\n',
  ])("of a report of glibc's script, or of other texts, are not: %j", (text) => {
    expect(sniffs(text)).toBe(false)
  })
})
