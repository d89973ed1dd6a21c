import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { METADATA_PROPERTIES, parseDtd, type Dtd, type Field, type Leaf, type Section } from '../../lib/metatf/index.js'
import { corpusFile } from '../support/corpus.js'
import { dtdError, leafOf, recordOf, withoutPlaces } from './support.js'

/** Properties of small numbers, so that the DTDs of the tests can be short. */
const byte = (...names: string[]) => names.map((name) => `${name}.width = 1; ${name}.interpretation = none;`).join('\n')

/**
 * A record's fields in short: `2:x` is the leaf x at position 2, `2*` a repetition counted by it; `(` begins a
 * composite.
 */
function outline(fields: readonly Field[]): string {
  const show = (field: Field): string => {
    if (field.kind === 'leaf') return `${field.position}:${field.name}`
    if (field.kind === 'repetition') return `${field.count}*${show(field.field)}`
    const type = field.type === null || field.type === field.name ? '' : `:${field.type}`
    return `${field.name}${type}(${field.fields.map(show).join(' ')})`
  }
  return fields.map(show).join(' ')
}

/** What the tags of a section mean, in their order: `4 alloc`. */
const tagsOf = (section: Section | undefined) => {
  return [...(section?.tags ?? [])].toSorted(([a], [b]) => a - b).map(([tag, { name }]) => `${tag} ${name}`)
}

/** A leaf's width if it is a number of bytes, else the position of the leaf with it. */
const widthOf = ({ width }: Leaf) => (width?.kind === 'constant' ? width.bytes : `of ${width?.position}`)

const shape = (text: string) => outline(recordOf(parseDtd(text), 'a').fields)

describe('hatf10.dtd', () => {
  const text = readFileSync(new URL('../../examples/hatf10.dtd', import.meta.url), 'utf8')
  const dtd = parseDtd(text, 'hatf10.dtd')

  test('has a global section with the predefined records, and the section heap', () => {
    expect(dtd).toMatchObject({ version: '1.0', file: 'hatf10.dtd', headers: [], tagWidth: 1 })
    expect(dtd.sections.map(({ id, name, element }) => ({ id, name, element }))).toEqual([
      { id: 0, name: '', element: null },
      { id: 1, name: 'heap', element: null },
    ])
    expect(dtd.sections[0]?.records.map(({ name, tag, role, predefined }) => [name, tag, role, predefined])).toEqual([
      ['vfield', null, 'type', true],
      ['comment', 1, 'comment', true],
      ['section', 2, 'section', true],
      ['metadata', 3, 'metadata', true],
    ])
    expect(tagsOf(dtd.sections[1])).toEqual([
      '1 comment',
      '2 section',
      '3 metadata',
      '4 alloc',
      '5 realloc',
      '6 free',
      '7 createHeap',
      '8 destroyHeap',
      '9 createThread',
      '10 destroyThread',
    ])
  })

  test('lays out alloc', () => {
    const alloc = recordOf(dtd, 'alloc')
    expect(alloc).toMatchObject({ section: 1, tag: 4, role: 'data', of: null, predefined: false })
    expect(alloc.at).toMatchObject({ file: 'hatf10.dtd', column: 5 })
    expect(outline(alloc.fields)).toBe('0:tag 1:size 2:address 3:time 4:thread 5:heap vfield(6:length 7:data)')
    expect(withoutPlaces(alloc.leaves)).toEqual(
      [
        { name: 'tag', width: { kind: 'constant', bytes: 1 }, value: { kind: 'number', value: 4n } },
        { name: 'size', width: { kind: 'constant', bytes: 4 } },
        { name: 'address', width: { kind: 'constant', bytes: 4 } },
        ...['time', 'thread', 'heap'].map((name) => {
          const interpretation = { kind: 'default', value: { kind: 'number', value: 0n } }
          return { name, width: { kind: 'constant', bytes: 0 }, interpretation }
        }),
        { name: 'length', width: { kind: 'constant', bytes: 1 } },
        { name: 'data', type: 'bytes', width: { kind: 'reference', position: 6 } },
      ].map((leaf, position) => ({
        kind: 'leaf',
        position,
        type: 'int',
        interpretation: { kind: 'none' },
        value: null,
        ...leaf,
      })),
    )
    expect(alloc.fields[0]).toBe(alloc.leaves[0])
  })

  test('reads the same from bytes, also with a byte order mark and other encodings in comments', () => {
    const bytes = Buffer.concat([Buffer.from('\uFEFF'), Buffer.from(text), Buffer.from([0x2f, 0x2f, 0xe9, 0xff])])
    expect(parseDtd(bytes, 'hatf10.dtd')).toEqual(dtd)
    expect(parseDtd(`\uFEFF${text}`, 'hatf10.dtd')).toEqual(dtd)
    expect(withoutPlaces(parseDtd(text.replaceAll('\n', '\r\n')))).toEqual(withoutPlaces(dtd))
  })
})

describe('Meta-TF 1.2', () => {
  const text = `## DTDname: Events of an allocator
## MetaTF: 1.2 http://example.org/

int size = none; // in bytes
int time = delta -1;
string note = default "no \\"note\\"";

section heap 7 {
  grow : {tag, size, time, note}         { tag = 1; }
  move : {tag, size, size, count*{size}} { tag = 2; int count = none; }
  mark : grow                            { tag = 3; note = "no \\"note\\""; int size = default 5; }
}`

  test('has headers, types and no widths', () => {
    const dtd = parseDtd(text, 'x.dtd')
    expect(dtd).toMatchObject({ version: '1.2', tagWidth: null })
    expect(dtd.headers).toEqual([
      { key: 'DTDname', value: 'Events of an allocator', at: { file: 'x.dtd', line: 1, column: 1 } },
      { key: 'MetaTF', value: '1.2 http://example.org/', at: { file: 'x.dtd', line: 2, column: 1 } },
    ])
    expect(dtd.sections[0]?.records).toEqual([])
    expect(outline(recordOf(dtd, 'move').fields)).toBe('0:tag 1:size 2:size 3:count 3*(4:size)')
    expect(withoutPlaces(recordOf(dtd, 'mark').leaves)).toEqual(
      [
        { name: 'tag', value: { kind: 'number', value: 3n } },
        { name: 'size', interpretation: { kind: 'default', value: { kind: 'number', value: 5n } } },
        { name: 'time', interpretation: { kind: 'delta', initial: 2n ** 64n - 1n } },
        {
          name: 'note',
          type: 'string',
          interpretation: { kind: 'default', value: { kind: 'string', value: 'no "note"' } },
          value: { kind: 'string', value: 'no "note"' },
        },
      ].map((leaf, position) => {
        return {
          kind: 'leaf',
          position,
          type: 'int',
          width: null,
          interpretation: { kind: 'none' },
          value: null,
          ...leaf,
        }
      }),
    )
  })

  test('lets a record declare only what it has', () => {
    const wrong = text.replace('int count = none;', 'int count = none; string note = none;')
    const message = "x.dtd:10:78: record 'move' has no field 'note' (record 'move' is defined at x.dtd:10:3)"
    expect(dtdError(wrong).message).toBe(message)
  })

  test('is recognised without a header', () => {
    const version = (dtd: string) => parseDtd(dtd).version
    expect(version('int size = none;')).toBe('1.2')
    expect(version('a : {tag} { tag = 1; }')).toBe('1.2')
    expect(version('/* int x */ tag.width = 1;')).toBe('1.0')
    expect(version('// Meta-TF version 1.2\ntag.width = 1;')).toBe('1.0')
    expect(version('## DTDname: x\n## MetaTF: 1.0\ntag.width = 1;')).toBe('1.0')
    expect(version('## MetaTF: 1.2\n')).toBe('1.2')
  })

  test('is what mpatrol ships', { tags: ['corpus'] }, () => {
    const dtd = parseDtd(corpusFile('hatf-ascii/hatf.dtd'), 'hatf.dtd')
    expect(tagsOf(dtd.sections[1])).toEqual([
      '1 alloc',
      '2 free',
      '3 reallocNoAlloc',
      '4 reallocAllocFree',
      '5 reallocAlloc',
      '6 reallocFree',
      '7 createHeap',
      '8 destroyHeap',
      '9 createThread',
      '10 destroyThread',
    ])
    const { leaves } = recordOf(dtd, 'reallocAlloc')
    expect(leaves.map(({ name, type, interpretation }) => `${type} ${name} ${interpretation.kind}`)).toEqual([
      'int tag none',
      'int size none',
      'int address none',
      'int address none',
      'int time default',
      'int thread default',
      'int heap default',
      'string attributes default',
    ])
  })
})

describe('fields', () => {
  test('nest, repeat and are counted in the order of the text', () => {
    expect(
      shape(`tag.width = 1; ${byte('x', 'y', 'z', 'n')}
      a : (tag, x, (y, (z)), n, n*x, n*(x, n*y)) { tag.value = 4; }`),
    ).toBe('0:tag 1:x (2:y (3:z)) 4:n 4*5:x 4*(6:x 4*7:y)')
  })

  test('that count need not stand in the record before', () => {
    expect(
      shape(`tag.width = 1; ${byte('x', 'n', 'm')}
      a : (tag, n*x, m*(x, x)) { tag.value = 4; }`),
    ).toBe('0:tag 1:n 1*2:x 3:m 3*(4:x 5:x)')
    expect(shape(`tag.width = 1; ${byte('x', 'n', 'm')} a : (tag, n*(m*x)) { tag.value = 4; }`)).toBe(
      '0:tag 1:n 1*(2:m 2*3:x)',
    )
  })

  test('of a record type have the names of that type', () => {
    const dtd = parseDtd(`tag.width = 1; ${byte('n')}
      a : (tag, vfield, name : vfield, n, n*text) { tag.value = 4; }
      text : vfield { length.width = 2; }
      b : text { tag.value = 5; length.width = 4; }
      c : (tag, b) { tag.value = 6; }`)
    expect(outline(recordOf(dtd, 'a').fields)).toBe(
      '0:tag vfield(1:length 2:data) name:vfield(3:length 4:data) 5:n 5*text(6:length 7:data)',
    )
    expect(recordOf(dtd, 'a').leaves.map(widthOf)).toEqual([1, 1, 'of 1', 1, 'of 3', 1, 2, 'of 6'])
    expect(recordOf(dtd, 'text')).toMatchObject({ role: 'type', tag: null, of: 'vfield' })
    expect(recordOf(dtd, 'b')).toMatchObject({ role: 'data', tag: 5, of: 'text' })
    expect(outline(recordOf(dtd, 'b').fields)).toBe('0:tag 1:length 2:data')
    expect(leafOf(dtd, 'b', 'length').width).toEqual({ kind: 'constant', bytes: 4 })
    expect(outline(recordOf(dtd, 'c').fields)).toBe('0:tag b(1:tag 2:length 3:data)')
    expect(recordOf(dtd, 'c').leaves[1]?.value).toEqual({ kind: 'number', value: 5n })
  })

  test('refer to the one of that name that is there with them', () => {
    const dtd = parseDtd(`tag.width = 1; ${byte('n', 'm')} x.width = m.value; x.interpretation = none;
      a : (tag, n, n*(n, m, x), m, x) { tag.value = 4; }`)
    expect(
      recordOf(dtd, 'a')
        .leaves.filter(({ name }) => name === 'x')
        .map(({ width }) => width),
    ).toEqual([
      { kind: 'reference', position: 3 },
      { kind: 'reference', position: 5 },
    ])
  })

  test('are bytes if their width is not that of a number', () => {
    const dtd = parseDtd(`tag.width = 2; ${byte('n')}
      a : (tag, n, wide, short, empty, like, delta) {
        tag.value = 0x1234;
        wide.width = 9; wide.interpretation = none;
        short.width = n.value; short.interpretation = baseOffset n.value;
        empty.width = 0; empty.interpretation = none;
        like.width = tag.width; like.interpretation = none; like.value = n.value;
        delta.width = 8; delta.interpretation = delta 0xffffffffffffffff;
      }`)
    expect(recordOf(dtd, 'a').leaves.map(({ name, type }) => `${type} ${name}`)).toEqual([
      'int tag',
      'int n',
      'bytes wide',
      'int short',
      'int empty',
      'int like',
      'int delta',
    ])
    expect(leafOf(dtd, 'a', 'short').interpretation).toEqual({
      kind: 'baseOffset',
      base: { kind: 'reference', position: 1 },
    })
    expect(leafOf(dtd, 'a', 'like').width).toEqual({ kind: 'constant', bytes: 2 })
    expect(leafOf(dtd, 'a', 'like').value).toEqual({ kind: 'reference', position: 1 })
    expect(leafOf(dtd, 'a', 'delta').interpretation).toEqual({ kind: 'delta', initial: 2n ** 64n - 1n })
  })
})

describe('scopes', () => {
  const dtd = parseDtd(`tag.width = 1;
    size.width = 4; size.interpretation = none;
    kept : (tag, size) { tag.value = 4; }
    hidden : (tag, size) { tag.value = 5; }
    section one 1 {
      size.width = 2;
      hidden : (tag, size) { tag.value = 5; }
      own : (tag, size, kept) { tag.value = 6; size.interpretation = default -1; }
      like : kept { tag.value = 7; }
    }
    section two 255 { own : (tag, size) { tag.value = 6; } }`)

  test('give properties from the inside out', () => {
    const sizes = dtd.sections.flatMap(({ name, records }) => {
      return records.flatMap((record) => {
        return record.leaves.filter((leaf) => leaf.name === 'size').map((leaf) => [name, record.name, widthOf(leaf)])
      })
    })
    expect(sizes).toEqual([
      ['', 'kept', 4],
      ['', 'hidden', 4],
      ['one', 'hidden', 2],
      ['one', 'own', 0],
      ['one', 'own', 4],
      ['one', 'like', 4],
      ['two', 'own', 4],
    ])
    const { interpretation } = leafOf(dtd, 'own', 'size')
    expect(interpretation).toEqual({ kind: 'default', value: { kind: 'number', value: 2n ** 64n - 1n } })
  })

  test('hide global records of the same tag', () => {
    const named = dtd.sections.map(({ id, tags }) => {
      const own = [...tags].filter(([tag]) => tag > 3)
      return Object.fromEntries(own.map(([tag, { name, section }]) => [tag, [name, section, id]]))
    })
    expect(named).toEqual([
      { 4: ['kept', 0, 0], 5: ['hidden', 0, 0] },
      { 4: ['kept', 0, 1], 5: ['hidden', 1, 1], 6: ['own', 1, 1], 7: ['like', 1, 1] },
      { 4: ['kept', 0, 255], 5: ['hidden', 0, 255], 6: ['own', 255, 255] },
    ])
  })
})

describe('sections as tables', () => {
  const table = (definitions: string) => {
    const dtd = parseDtd(`tag.width = 1; ${byte('v')}
      a : (tag, x, y, z) {
        tag.value = 4;
        x.interpretation = sectionStride 9 2;
        y.width = 4; y.interpretation = sectionOffset 9;
        z.interpretation = stride 1 -1;
      }
      section t 9 { ${definitions} }`)
    expect(
      recordOf(dtd, 'a')
        .leaves.slice(1)
        .map(({ interpretation }) => interpretation),
    ).toEqual([
      { kind: 'sectionStride', section: 9, stride: 2 },
      { kind: 'sectionOffset', section: 9 },
      { kind: 'stride', initial: 1n, stride: -1n },
    ])
    const { record, position } = dtd.sections[1]?.element ?? {}
    return [record?.name, record?.tag, position]
  }

  test('have one record type with one value, with or without a tag', () => {
    expect(table('e : (v) { }')).toEqual(['e', null, 0])
    expect(table('e : (tag, v) { tag.value = 4; }')).toEqual(['e', 4, 1])
    expect(table('e : (tag, v) { tag.value = 4; }\nhelp : (v, v) { }')).toEqual(['e', 4, 1])
  })

  test.each([
    '',
    'e : (v, v) { }',
    'e : (v) { } f : (v) { }',
    'e : (v, v*v) { }',
    'e : (vfield) { }',
    'e : (q) { q.interpretation = sectionStride 9 1; }',
  ])('are not those with %j', (definitions) => {
    expect(() => table(definitions)).toThrow('section 9 is no table')
  })
})

describe('predefined records', () => {
  // Appendix B, its faults repaired: a colon for a semicolon, and a comment without end.
  const appendix = `
vfield : (length,data) {
    length.width = 1;
    length.interpretation = none;
    data.width = length.value;
    data.interpretation = none;
}
comment : vfield {
    tag.value = 1;
}
section : (tag, number) {
    tag.value = 2;
}
metadata : (tag, record, field, property, value) {
    tag.value = 3; // record.value = the tag of the record to be changed
    record.width = tag.width;
    record.interpretation = none; // field.value = field of the record to be changed (0..)
    field.width = 1;
    field.interpretation = none;
    /* property.value = the property of the field to be changed */
    property.width = 1;
    value.width = 4;
}
`

  test('may be stated as they are', () => {
    const stated = parseDtd(`tag.width = 2; number.width = 7; ${appendix}`)
    const plain = parseDtd('tag.width = 2;')
    const records = ({ sections }: Dtd) =>
      sections[0]?.records.map((record) => withoutPlaces({ ...record, predefined: null }))
    expect(records(stated)).toEqual(records(plain))
    expect(stated.sections[0]?.records.map(({ predefined }) => predefined)).toEqual([false, false, false, false])
    expect(recordOf(plain, 'metadata').leaves.map((leaf) => [leaf.name, widthOf(leaf)])).toEqual([
      ['tag', 2],
      ['record', 2],
      ['field', 1],
      ['property', 1],
      ['value', 4],
    ])
  })

  test('may be stated with other widths', () => {
    const dtd = parseDtd(`tag.width = 1;
      metadata : (tag, record, field, property, value) { value.width = 8; }
      vfield : (length, data) { length.width = 2; }`)
    expect(leafOf(dtd, 'metadata', 'value').width).toEqual({ kind: 'constant', bytes: 8 })
    // A comment is of type vfield, whatever that is.
    expect(leafOf(dtd, 'comment', 'length').width).toEqual({ kind: 'constant', bytes: 2 })
    expect(dtd.sections[0]?.records.map(({ name, predefined }) => [name, predefined])).toEqual([
      ['vfield', false],
      ['comment', true],
      ['section', true],
      ['metadata', false],
    ])
  })

  test('know no properties of the DTD', () => {
    const dtd =
      parseDtd(`tag.width = 1; length.width = 4; length.interpretation = delta 0; number.width = 9; ${byte('x')}
      a : (tag, comment) { tag.value = 4; }`)
    expect(leafOf(dtd, 'comment', 'length').width).toEqual({ kind: 'constant', bytes: 1 })
    expect(leafOf(dtd, 'section', 'number').width).toEqual({ kind: 'constant', bytes: 1 })
    expect(shape(`tag.width = 1; a : (tag, comment) { tag.value = 4; }`)).toBe('0:tag comment(1:tag 2:length 3:data)')
  })

  test('set a width or one of the interpretations', () => {
    expect(METADATA_PROPERTIES.map(({ name, values }) => `${name} ${values}`)).toEqual([
      'width 1',
      'none 0',
      'baseOffset 1',
      'delta 1',
      'default 1',
      'sectionOffset 1',
      'stride 2',
      'sectionStride 2',
    ])
  })
})

describe('text', () => {
  test('has comments of both kinds anywhere', () => {
    expect(shape('/**/tag/* a *//* b\n*/.width// c\n=1;a:(tag){tag.value=0x0A;}// d')).toBe('0:tag')
  })

  test('has places with line and column', () => {
    const dtd = parseDtd('tag.width = 1; /*\n\n*/ section s 1 {\n\ta\n:\n(tag) { tag.value = 4; } }', 'x.dtd')
    expect(dtd.sections[1]?.at).toEqual({ file: 'x.dtd', line: 3, column: 12 })
    expect(recordOf(dtd, 'a').at).toEqual({ file: 'x.dtd', line: 4, column: 2 })
    expect(recordOf(dtd, 'a').leaves[0]?.at).toEqual({ file: 'x.dtd', line: 6, column: 2 })
  })
})
