import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { HATF_12 } from '../../../lib/metatf/hatf-ascii/layout.js'
import { compileDtd, DtdError, parseDtd } from '../../../lib/entry/metatf.js'
import { decodeAll, encodeAll } from '../../support/drive.js'
import { HATF10 } from '../binary/support.js'
import { compiled, generated, writing } from './support.js'

const BLOCKS = parseDtd(readFileSync(fileURLToPath(new URL('blocks.dtd', import.meta.url))), 'some/where/blocks.dtd')

const EVENTS: TraceEvent[] = [
  { kind: 'alloc', address: 0x7fff_0000_1000n, size: 24n, time: 5n, file: 'main.c' },
  { kind: 'alloc', address: 0x7fff_0000_2000n, size: 2n ** 40n, time: 1_000_000n },
  {
    kind: 'other',
    type: 'mark',
    code: 6,
    fields: {
      level: 3n,
      pair: [
        { a: 1n, b: 2n },
        { a: 3n, b: 4n },
      ],
    },
  },
  { kind: 'free', address: 0x7fff_0000_1000n, time: 1_000_001n, line: 12 },
  { kind: 'free', address: 0x7fff_0000_2000n, time: 3n, line: 70_000 },
  { kind: 'comment', text: 'the end' },
]

describe('compileDtd', () => {
  test('a module as it is written', async () => {
    await expect(compileDtd(BLOCKS)).toMatchFileSnapshot('blocks.ts.txt')
  })

  test('what a module writes is read again', () => {
    const batches = batchesOf(EVENTS, { format: 'x' })
    const { encoder, decoder } = compiled(BLOCKS)
    expect(writing(encoder({ strict: true }), batches)).toEqual(
      writing(generated(BLOCKS).encoder({ strict: true }), batches),
    )
    expect(decodeAll(decoder(), encodeAll(encoder(), batches), 5)).toMatchObject({
      events: EVENTS,
      headers: [{ layout: { dtd: 'blocks.dtd' } }],
    })
  })

  test('both languages differ by their types only', () => {
    const lines = (language: 'ts' | 'js') =>
      compileDtd(HATF10, { language })
        .split('\n')
        .filter((line) => /^ {4,}/.test(line))
    expect(lines('ts').length).toBeGreaterThan(1000)
    expect(lines('ts')).toEqual(lines('js'))
    expect(compileDtd(HATF10, { language: 'js' })).not.toMatch(/: any|: void|interface/)
  })

  test('text of a DTD that would end a string or a comment', () => {
    const text =
      '## MetaTF: 1.2\n## Key: `${1}` \\ */ \'\n// none\nsection s 1 { remark : {tag, text, more} { tag = 1; string text = none; string more = default "*/`${2}\\\\"; } }'
    const dtd = parseDtd(text, "it's.dtd")
    expect(compileDtd(dtd)).toMatch(/\n {2}'it\\'s\.dtd',\n\)\n/)
    const events: TraceEvent[] = [{ kind: 'comment', text: 'a' }]
    const batches = batchesOf(events, { format: 'x' })
    expect(writing(compiled(dtd).encoder(), batches)).toEqual(writing(generated(dtd).encoder(), batches))
  })

  test.each(['f((x as number))', 'a\rb', '// Decoder', '/* HI */'])(
    'text of a DTD is in the module as it is: %j',
    (value) => {
      const text = `## MetaTF: 1.2\n## Key: ${value}\nint size = none;\nmark : {tag, s} { tag = 4; string s = default "${value}"; }\nalloc : {tag, size} { tag = 1; }`
      const dtd = parseDtd(text, 'x.dtd')
      const { events } = decodeAll(compiled(dtd).decoder(), Buffer.from('## A: b\n\n4\n1 5\n'))
      expect(events).toEqual([
        { kind: 'other', type: 'mark', code: 4, fields: { s: value } },
        { kind: 'alloc', size: 5n },
      ])
    },
  )

  test('names of records, files and sections that would end a comment', () => {
    for (const file of ['a`b.dtd', "it's\n*x.dtd", 'a\u2028b.dtd', 'x */ y.dtd', '// x', '/* x']) {
      const dtd = parseDtd(
        'tag.width = 1; size.width = 1; size.interpretation = none; alloc : (tag, size) { tag.value = 4; }',
        file,
      )
      expect(decodeAll(compiled(dtd).decoder({ header: false }), Uint8Array.of(4, 5)).events).toEqual([
        { kind: 'alloc', size: 5n },
      ])
    }
  })

  test('a module that another version of heapflow made is refused', () => {
    const old = (source: string) => source.replace('version: 2', 'version: 1')
    for (const dtd of [BLOCKS, parseDtd('tag.width = 1;', 'x.dtd'), HATF_12]) {
      expect(() => compiled(dtd, old)).toThrow(
        'this reader and writer was compiled by another version of heapflow: run metatf-compile again',
      )
    }
  })

  test('a DTD of 1.2 that lines cannot follow is an error of the compiler', () => {
    const text =
      '## MetaTF: 1.2\nsection v 2 { e : {x} { int x = none; } }\nsection s 1 { alloc : {tag, size} { tag = 1; int size = sectionStride 2 1; } }'
    expect(() => compileDtd(parseDtd(text, 'x.dtd'))).toThrow(DtdError)
  })

  test('a DTD without records, and one of its own', () => {
    for (const text of [
      'tag.width = 1;',
      'tag.width = 2; thing : (tag, x) { tag.value = 9; x.width = 1; x.interpretation = none; }',
      '## MetaTF: 1.2',
    ]) {
      const dtd = parseDtd(text, 'x.dtd')
      const batches = batchesOf([{ kind: 'other', type: 'thing', code: 9, fields: { x: 1n } }], { format: 'x' })
      expect(writing(compiled(dtd).encoder(), batches)).toEqual(writing(generated(dtd).encoder(), batches))
    }
  })

  test('many long texts, which make batches end early', () => {
    const events = Array.from({ length: 3000 }, (_, i): TraceEvent => ({
      kind: 'alloc',
      address: 1n,
      size: 2n,
      time: BigInt(i),
      file: `${i}${'x'.repeat(240)}`,
    }))
    const bytes = encodeAll(generated(BLOCKS).encoder(), batchesOf(events, { format: 'x' }))
    for (const size of [undefined, 65_536, 1000]) {
      const [one, other] = [generated(BLOCKS), compiled(BLOCKS)].map(({ decoder }) =>
        decodeAll(decoder(), bytes, size).batches.map(({ count }) => count),
      )
      expect(one?.length).toBeGreaterThan(2)
      expect(other).toEqual(one)
    }
  })

  test('a section of more records than one loop has', { tags: ['slow'] }, () => {
    const records = Array.from(
      { length: 100 },
      (_, i) => `alloc${'_'.repeat(i + 1)} : (tag, size, address, thread) { tag.value = ${i + 4}; }`,
    )
    const fields = ['size', 'address', 'thread'].map((name) => `${name}.width = 4; ${name}.interpretation = none;`)
    const dtd = parseDtd(`tag.width = 1;\n${fields.join('\n')}\n${records.join('\n')}`, 'x.dtd')
    const events = Array.from({ length: 300 }, (_, i): TraceEvent => ({
      kind: 'alloc',
      size: BigInt(i),
      address: 1n,
      thread: 2n,
      code: 4 + (i % 100),
    }))
    const bytes = encodeAll(generated(dtd).encoder(), batchesOf(events, { format: 'x' }))
    expect(decodeAll(compiled(dtd).decoder(), bytes).events).toEqual(decodeAll(generated(dtd).decoder(), bytes).events)
  })
})
