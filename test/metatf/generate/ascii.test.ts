// @module-tag slow
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { batchesOf } from '../../../lib/event/batch.js'
import { HATF_12 } from '../../../lib/metatf/hatf-ascii/layout.js'
import { compileDtd, parseDtd } from '../../../lib/entry/metatf.js'
import { anyEvent } from '../../support/random-event.js'
import { runs } from '../../support/runs.js'
import { EVERYTHING } from '../ascii/dtds.js'
import { randomDtd } from '../random.js'
import { eventFor } from './random.js'
import { compiled, expectSameReading, generated, writing } from './support.js'

const numbers = fc.infiniteStream(fc.nat(0xffff_ffff))

/** Two records of the same kind, of which the event's api and the tag tell which it was. */
const APIS = parseDtd(
  `## MetaTF: 1.2
int address = none;
int size = none;
malloc : {tag, address, size} { tag = 12; }
memalign : {tag, address, size, alignment} { tag = 300; int alignment = none; }
free : {tag, address} { tag = 0; }
dealloc : {tag, address, time} { tag = 4000000000; int time = none; }
remark : {tag, text} { tag = 5; string text = none; }
`,
  'apis.dtd',
)

const DTDS = [
  ['HATF', HATF_12],
  ['everything', EVERYTHING],
  ['apis', APIS],
] as const

describe.each(DTDS)('lines by %s', (_, dtd) => {
  const pairs = [generated(dtd), compiled(dtd)] as const

  test('random events are written and read alike, whole, cut and damaged', () => {
    fc.assert(
      fc.property(
        numbers,
        fc.array(anyEvent, { maxLength: 3 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 60 }),
        (stream, others, strict, size) => {
          const pick = (n: number) => (stream.next().value as number) % n
          const events = [
            ...Array.from({ length: 30 }, () => eventFor(dtd, pick)),
            ...others,
            ...Array.from({ length: 10 }, () => eventFor(dtd, pick)),
          ]
          const batches = batchesOf(events, { format: 'x' })
          const expected = writing(pairs[0].encoder({ strict }), batches)
          expect(writing(pairs[1].encoder({ strict }), batches)).toEqual(expected)
          const bytes = new Uint8Array(Buffer.from(expected.bytes, 'hex'))
          expectSameReading(pairs, bytes, [undefined, size])
          expectSameReading(pairs, bytes.slice(0, pick(bytes.length + 1)), [undefined, size])
          const damaged = bytes.slice()
          if (bytes.length > 0) damaged[pick(bytes.length)] = ' \t\r\n#0a9x"-'.charCodeAt(pick(11))
          expectSameReading(pairs, damaged, [undefined, size])
        },
      ),
      { numRuns: runs(50) },
    )
  })

  test('lines in any form', () => {
    const word = fc.constantFrom(
      '1',
      '2',
      '12',
      '0',
      '300',
      '0012',
      '0x10',
      '0xFFFFFFFFFFFFFFFF',
      '18446744073709551616',
      '99999999999',
      'x',
      '"t"',
      '-1',
      '',
    )
    const blank = fc.constantFrom(' ', ' ', ' ', '  ', '\t')
    const ending = fc.constantFrom('\n', '\n', '\n', '\r\n', ' \n', '')
    const line = fc
      .tuple(fc.array(fc.tuple(word, blank), { maxLength: 4 }), word, ending)
      .map(([words, last, end]) => `${words.flat().join('')}${last}${end}`)
    fc.assert(
      fc.property(
        fc.array(fc.oneof(line, fc.constantFrom('## A: b\n', '\n', '1 5 0x10\n', '12 7 9\n', '2 0xabc\n')), {
          maxLength: 12,
        }),
        (lines) => {
          expectSameReading(pairs, Buffer.from(lines.join('')), [undefined, 3])
        },
      ),
      { numRuns: runs(500) },
    )
  })
})

test('a line that is too long is an error', () => {
  const line = Buffer.from(`1 ${'0'.repeat(1 << 20)}5 0x10\n`)
  expectSameReading([generated(HATF_12), compiled(HATF_12)], Buffer.concat([Buffer.from('1 2 0x3\n'), line]), [
    undefined,
  ])
})

test('random DTDs of 1.2: random lines are read alike', () => {
  fc.assert(
    fc.property(randomDtd, fc.array(fc.array(fc.nat(20), { maxLength: 8 }), { maxLength: 8 }), (text, lines) => {
      const dtd = parseDtd(text, 'x.dtd')
      fc.pre(dtd.version === '1.2' && !text.includes('sectionStride'))
      expect(compileDtd(dtd)).toContain('asciiPair(dtd, {')
      expectSameReading(
        [generated(dtd), compiled(dtd)],
        Buffer.from(lines.map((words) => `${words.join(' ')}\n`).join('')),
        [undefined, 4],
      )
    }),
  )
})
