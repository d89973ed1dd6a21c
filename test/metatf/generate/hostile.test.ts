import { afterEach, describe, expect, test } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { groupsOf, loopCode, type LoopName } from '../../../lib/metatf/generate/loops.js'
import { compileDtd } from '../../../lib/metatf/generate/module.js'
import { parseDtd, type Dtd } from '../../../lib/metatf/index.js'
import { mappingOf } from '../../../lib/metatf/mapping.js'
import { decodeAll, encodeAll } from '../../support/drive.js'
import { compiled, generated } from './support.js'

/** Texts that end strings, templates, comments, lines or scripts, and then run code that can be seen. */
const ATTACKS = [
  "'); globalThis.hostile = 1; ('",
  '"); globalThis.hostile = 1; ("',
  '`); globalThis.hostile = 1; (`',
  '${globalThis.hostile = 1}',
  '*/ globalThis.hostile = 1; /*',
  '\nglobalThis.hostile = 1\n',
  '\r\nglobalThis.hostile = 1\r\n',
  '\u2028globalThis.hostile = 1\u2029',
  '</script><script>globalThis.hostile = 1</script>',
  '<!-- globalThis.hostile = 1 -->',
  '\\',
  "\\'); globalThis.hostile = 1; //",
  '] }; globalThis.hostile = 1; //',
]

/** Names that objects have without being given them. */
const INHERITED = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf', '__defineGetter__']

const NAMES: readonly LoopName[] = ['readBig', 'readLittle', 'write']

afterEach(() => {
  expect((globalThis as { hostile?: number }).hostile).toBeUndefined()
})

/** The events of a DTD come back, by generated code and by a printed module. */
function expectBack(dtd: Dtd, events: readonly TraceEvent[]): void {
  for (const { encoder, decoder } of [generated(dtd), compiled(dtd)]) {
    const writer = encoder()
    const bytes = encodeAll(writer, batchesOf(events, { format: 'x' }))
    expect(Object.fromEntries(writer.losses.counts)).toEqual({})
    expect(decodeAll(decoder(), bytes, 3).events).toEqual(decodeAll(decoder(), bytes).events)
    const { events: read, error } = decodeAll(decoder(), bytes)
    expect(error).toBeUndefined()
    expect(read).toEqual(events)
  }
}

/** Fields by names, of which __proto__ is one like any other. */
const named = <Value>(entries: readonly (readonly [string, Value])[]) => Object.fromEntries(entries)

describe('names that objects inherit', () => {
  test('as fields, composites, lists and records of binary traces', () => {
    const fields = INHERITED.map((name) => `${name}.width = 1; ${name}.interpretation = none;`)
    const dtd = parseDtd(
      `tag.width = 1; n.width = 1; n.interpretation = none;\n${fields.join('\n')}
      pair : (${INHERITED.join(', ')}) { }
      ${INHERITED.map((name, i) => `r${name} : (tag, ${name}, list : pair, n, n*pair, n*(${name}, vfield)) { tag.value = ${i + 4}; }`).join('\n')}
      free : (tag, address, ${INHERITED.join(', ')}) { tag.value = 40; address.width = 4; address.interpretation = none; }`,
      'x.dtd',
    )
    const pair = (from: bigint) => named(INHERITED.map((name, i) => [name, from + BigInt(i)]))
    const events = INHERITED.map((name, i): TraceEvent => ({
      kind: 'other',
      type: `r${name}`,
      code: i + 4,
      fields: named<never>([
        [name, 7n],
        ['list', pair(1n)],
        ['pair', [pair(2n), pair(3n)]],
        [
          'n',
          [
            named<never>([
              [name, 5n],
              ['vfield', { data: 'YQ==' }],
            ] as never),
            named<never>([
              [name, 6n],
              ['vfield', { data: '' }],
            ] as never),
          ],
        ],
      ] as never),
    }))
    expectBack(dtd, [...events, { kind: 'free', address: 1n, fields: pair(1n) }])
  })

  test('as fields of lines', () => {
    const dtd = parseDtd(
      `## MetaTF: 1.2\nint n = none; ${INHERITED.map((name) => `int ${name} = none;`).join(' ')}
      r : {tag, ${INHERITED.join(', ')}, n, n*{${INHERITED.join(', ')}}} { tag = 1; }`,
      'x.dtd',
    )
    const pair = (from: bigint) => INHERITED.map((name, i) => [name, from + BigInt(i)] as const)
    const fields = named<never>([...pair(1n), ['n', [named(pair(2n))]]] as never)
    expectBack(dtd, [{ kind: 'other', type: 'r', code: 1, fields }])
  })

  test('in an event whose record has no such fields, they are a loss', () => {
    const dtd = parseDtd(
      'tag.width = 1; r : (tag, a) { tag.value = 4; a.width = 1; a.interpretation = none; }',
      'x.dtd',
    )
    const { encoder } = generated(dtd)
    const writer = encoder()
    const fields = named<never>([
      ['a', 1n],
      ['__proto__', 5n],
    ] as never)
    encodeAll(writer, batchesOf([{ kind: 'other', type: 'r', fields }], { format: 'x' }))
    expect(Object.fromEntries(writer.losses.counts)).toEqual({ 'fields that r does not have': 1 })
  })
})

describe.each(ATTACKS)('the text %j', (attack) => {
  test('as the name of the file', () => {
    const dtd = parseDtd(
      'tag.width = 1; size.width = 1; size.interpretation = none; alloc : (tag, size) { tag.value = 4; }',
      attack,
    )
    expectBack(dtd, [{ kind: 'alloc', size: 5n }])
    expect(compileDtd(dtd)).not.toContain('</script>')
  })

  test('in a string and a header of a definition', () => {
    const line = attack.replaceAll(/[\r\n]/g, ' ')
    const string = line.replaceAll(/["\\]/g, '\\$&')
    const dtd = parseDtd(
      `## MetaTF: 1.2\n## Key: ${line}\nmark : {tag, s, f} { tag = 4; string s = default "${string}"; f = "${string}"; string f = none; }`,
      'x.dtd',
    )
    expectBack(dtd, [{ kind: 'other', type: 'mark', code: 4, fields: { s: line } }])
  })

  // The language allows letters, digits and underscores only, but a program may make a definition of its own.
  test('as the name of a record, a section, a field, a composite and a list', () => {
    const dtd = parseDtd(
      `tag.width = 1; n.width = 1; n.interpretation = none; x.width = 1; x.interpretation = none;
      pair : (x, n) { }
      section s 1 { r : (tag, x, a : pair, n, n*(x, vfield)) { tag.value = 4; } q : (tag, x) { tag.value = 5; } }
      section t 2 { q : (tag, x) { tag.value = 5; } }`,
      'x.dtd',
    )
    rename(dtd, attack)
    const texts: string[] = []
    for (const group of groupsOf(mappingOf(dtd))) {
      for (const name of NAMES) expect(loopCode(dtd, group, name, texts)).not.toContain('hostile')
    }
    expect(texts.join('\n')).toContain(attack.includes('hostile') ? 'hostile' : JSON.stringify(attack).slice(1, -1))
    const fields = named<never>([
      [attack, 1n],
      [
        `${attack}_2`,
        named([
          [attack, 2n],
          [`${attack}_2`, 3n],
        ]),
      ],
      [
        `${attack}_3`,
        [
          named([
            [attack, 4n],
            [`${attack}_2`, named([[`${attack}_2`, 'YQ==']]) as never],
          ]),
        ],
      ],
    ] as never)
    const { encoder, decoder } = generated(dtd)
    const event: TraceEvent = { kind: 'other', type: attack, code: 4, fields }
    const bytes = encodeAll(encoder(), batchesOf([event], { format: 'x' }))
    expect(decodeAll(decoder(), bytes).events).toMatchObject([{ kind: 'other', type: attack, code: 4 }])
    // A printed module holds the definition as text, in which such names are none; but its code runs nothing of them.
    expect(() => compiled(dtd)).toThrow()
  })
})

/** Gives all sections, records and fields of a definition one name, except for tags and what the language defines. */
function rename(dtd: Dtd, name: string): void {
  const seen = new Set<object>()
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null || seen.has(part)) return
    seen.add(part)
    const { name: was } = part as { name?: string }
    if (typeof was === 'string' && was !== 'tag' && was !== '') (part as { name: string }).name = name
    for (const value of part instanceof Map ? part.values() : Object.values(part)) visit(value)
  }
  visit(dtd.sections)
}
