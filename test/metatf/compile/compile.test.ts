import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { compileDtd, DtdError, parseDtd } from '../../../lib/metatf.js'
import { decodeAll, encodeAll } from '../../support/drive.js'
import { HATF10 } from '../binary/support.js'
import { compiled, universal, writing } from './support.js'

const BLOCKS = parseDtd(readFileSync(fileURLToPath(new URL('blocks.dtd', import.meta.url))), 'some/where/blocks.dtd')

const EVENTS: TraceEvent[] = [
  { kind: 'alloc', address: 0x7fff_0000_1000n, size: 24n, time: 5n, file: 'main.c' },
  { kind: 'alloc', address: 0x7fff_0000_2000n, size: 2n ** 40n, time: 1_000_000n },
  { kind: 'other', type: 'mark', code: 6, fields: { level: 3n, pair: [{ a: 1n, b: 2n }, { a: 3n, b: 4n }] } },
  { kind: 'free', address: 0x7fff_0000_1000n, time: 1_000_001n, line: 12 },
  { kind: 'free', address: 0x7fff_0000_2000n, time: 3n, line: 70_000 },
  { kind: 'comment', text: 'the end' }
]

describe('compileDtd', () => {
  test('a module as it is written', async () => {
    await expect(compileDtd(BLOCKS)).toMatchFileSnapshot('blocks.ts.txt')
  })

  test('what it writes is read again, and is what the universal writer writes', () => {
    const batches = batchesOf(EVENTS, { format: 'x' })
    const { encoder, decoder } = compiled(BLOCKS)
    expect(writing(encoder({ strict: true }), batches)).toEqual(writing(universal(BLOCKS).encoder({ strict: true }), batches))
    expect(decodeAll(decoder(), encodeAll(encoder(), batches), 5)).toMatchObject({ events: EVENTS, headers: [{ layout: { dtd: 'blocks.dtd' } }] })
  })

  test('both languages differ by their types only', () => {
    const lines = (language: 'ts' | 'js') => compileDtd(HATF10, { language }).split('\n').filter((line) => /^ {4,}/.test(line))
    const plain = lines('ts').map((line) => line.replaceAll(/\(([^()]+) as number\)|(\S) as number/g, '$1$2'))
    const parenless = (line: string) => line.replaceAll(/[()]/g, '')
    expect(plain.map(parenless)).toEqual(lines('js').map(parenless))
    expect(compileDtd(HATF10, { language: 'js' })).not.toMatch(/ as number|: EventBatch|interface/)
  })

  test('text of a DTD that would end a string or a comment', () => {
    const text = '## MetaTF: 1.2\n## Key: `${1}` \\ */ \'\n// none\nsection s 1 { remark : {tag, text, more} { tag = 1; string text = none; string more = default "*/`${2}\\\\"; } }'
    const dtd = parseDtd(text, "it's.dtd")
    expect(compileDtd(dtd)).toMatch(/\n`, 'it\\'s\.dtd'\)\n/)
    const events: TraceEvent[] = [{ kind: 'comment', text: 'a' }]
    const batches = batchesOf(events, { format: 'x' })
    expect(writing(compiled(dtd).encoder(), batches)).toEqual(writing(universal(dtd).encoder(), batches))
  })

  test('a DTD of 1.2 that lines cannot follow is an error of the compiler', () => {
    const text = '## MetaTF: 1.2\nsection v 2 { e : {x} { int x = none; } }\nsection s 1 { alloc : {tag, size} { tag = 1; int size = sectionStride 2 1; } }'
    expect(() => compileDtd(parseDtd(text, 'x.dtd'))).toThrow(DtdError)
  })

  test('a DTD without records, and one whose records no loop is for', () => {
    for (const text of ['tag.width = 1;', 'tag.width = 2; thing : (tag, x) { tag.value = 9; x.width = 1; x.interpretation = none; }', '## MetaTF: 1.2']) {
      const dtd = parseDtd(text, 'x.dtd')
      const batches = batchesOf([{ kind: 'other', type: 'thing', code: 9, fields: { x: 1n } }], { format: 'x' })
      expect(compileDtd(dtd)).not.toContain('function read')
      expect(writing(compiled(dtd).encoder(), batches)).toEqual(writing(universal(dtd).encoder(), batches))
    }
  })

  test('many long texts, which make batches end early', () => {
    const events = Array.from({ length: 3000 }, (_, i): TraceEvent => ({ kind: 'alloc', address: 1n, size: 2n, time: BigInt(i), file: `${i}${'x'.repeat(240)}` }))
    const bytes = encodeAll(universal(BLOCKS).encoder(), batchesOf(events, { format: 'x' }))
    for (const size of [undefined, 65_536, 1000]) {
      const [one, other] = [universal(BLOCKS), compiled(BLOCKS)].map(({ decoder }) => decodeAll(decoder(), bytes, size).batches.map(({ count }) => count))
      expect(one?.length).toBeGreaterThan(2)
      expect(other).toEqual(one)
    }
  })

  test('a section of more records than a loop can have', () => {
    const records = Array.from({ length: 100 }, (_, i) => `alloc${'_'.repeat(i + 1)} : (tag, size, address, thread) { tag.value = ${i + 4}; }`)
    const fields = ['size', 'address', 'thread'].map((name) => `${name}.width = 4; ${name}.interpretation = none;`)
    const dtd = parseDtd(`tag.width = 1;\n${fields.join('\n')}\n${records.join('\n')}`, 'x.dtd')
    const events = Array.from({ length: 300 }, (_, i): TraceEvent => ({ kind: 'alloc', size: BigInt(i), address: 1n, thread: 2n, code: 4 + (i % 100) }))
    const bytes = encodeAll(universal(dtd).encoder(), batchesOf(events, { format: 'x' }))
    expect(decodeAll(compiled(dtd).decoder(), bytes).events).toEqual(decodeAll(universal(dtd).decoder(), bytes).events)
  })
})
