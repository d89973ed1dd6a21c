import { describe, expect, test } from 'vitest'
import { decode } from './support.js'
import { stopwatch } from '../../support/stopwatch.js'

/** A DTD with one record, `r` with tag 4, of these fields and properties. */
function recordOf(fields: string, properties: string): string {
  return `tag.width = 1;\nr : (tag, ${fields}) { tag.value = 4; ${properties} }\nsection s 1 { }`
}

/** The `fields` of all records. */
function fieldsOf(dtd: string, bytes: string, options = {}): unknown[] {
  const { events, error } = decode(dtd, bytes, options)
  expect(error).toBeUndefined()
  expect(events.every(({ kind, type, code }) => kind === 'other' && type === 'r' && code === 4)).toBe(true)
  return events.map(({ fields }) => fields)
}

describe('bytes packed by hand', () => {
  test.each([
    ['none', 'x.width = 3; x.interpretation = none;', '04 010203  04 ffffff', [0x010203n, 0xffffffn]],
    ['none, 0 bytes', 'x.width = 0; x.interpretation = none;', '04 04', [0n, 0n]],
    ['none, 8 bytes', 'x.width = 8; x.interpretation = none;', '04 fffffffffffffffe', [2n ** 64n - 2n]],
    ['none, 5 bytes', 'x.width = 5; x.interpretation = none;', '04 ff00000001', [0xff00000001n]],
    [
      'baseOffset',
      'x.width = 1; x.interpretation = baseOffset 100;',
      '04 05  04 ff  04 80',
      [105n, 99n, 2n ** 64n - 28n],
    ],
    [
      'baseOffset, 3 bytes',
      'x.width = 3; x.interpretation = baseOffset 0x1000000;',
      '04 800000  04 7fffff',
      [0x800000n, 0x17fffffn],
    ],
    ['delta', 'x.width = 2; x.interpretation = delta 1000;', '04 0001  04 fffe  04 0000', [1001n, 999n, 999n]],
    [
      'delta, 5 bytes',
      'x.width = 5; x.interpretation = delta 0;',
      '04 ffffffffff  04 0100000000',
      [2n ** 64n - 1n, 2n ** 32n - 1n],
    ],
    ['delta, 8 bytes', 'x.width = 8; x.interpretation = delta -1;', '04 8000000000000000', [2n ** 63n - 1n]],
    ['default', 'x.interpretation = default 7;', '04 04', [7n, 7n]],
    ['sectionOffset', 'x.width = 2; x.interpretation = sectionOffset 1;', '04 0102', [0x102n]],
    ['stride', 'x.interpretation = stride 10 -4;', '04 04 04 04', [6n, 2n, 2n ** 64n - 2n, 2n ** 64n - 6n]],
  ])('%s', (_, properties, bytes, values) => {
    expect(fieldsOf(recordOf('x', properties), bytes)).toEqual(values.map((x) => ({ x })))
  })

  test('little-endian', () => {
    const dtd = recordOf('x, y', 'x.width = 3; x.interpretation = none; y.width = 2; y.interpretation = delta 0;')
    expect(fieldsOf(dtd, '04 010203 feff', { byteOrder: 'little' })).toEqual([{ x: 0x030201n, y: 2n ** 64n - 2n }])
  })

  test('wide tags, in either order', () => {
    const dtd = 'tag.width = 3; r : (tag, x) { tag.value = 66051; x.width = 1; x.interpretation = none; }'
    expect(decode(dtd, '010203 09').events).toMatchObject([{ type: 'r', code: 66051, fields: { x: 9n } }])
    expect(decode(dtd, '030201 09', { byteOrder: 'little' }).events).toMatchObject([{ fields: { x: 9n } }])
  })

  test('values of other fields as base, default, width and value', () => {
    const dtd = recordOf(
      'n, b, d, x, v',
      `
      n.width = 1; n.interpretation = none; b.width = 1; b.interpretation = baseOffset n.value; d.interpretation = default b.value;
      x.width = n.value; x.interpretation = none; v.width = 1; v.interpretation = none; v.value = n.value;`,
    )
    expect(fieldsOf(dtd, '04 02 ff abcd 02')).toEqual([{ b: 1n, d: 1n, x: 'q80=' }])
    expect(decode(dtd, '04 02 ff abcd 03').error?.message).toBe(
      'metatf: byte 0, event 1: malformed: field v of r is not what it always is',
    )
  })

  test('bytes, composites and repetitions', () => {
    const dtd =
      recordOf(
        'raw, n*(a, m*b), two:pair, vfield',
        `
      raw.width = 10; raw.interpretation = none; n.width = 1; n.interpretation = none; m.width = 1; m.interpretation = none;
      a.width = 1; a.interpretation = none; b.width = 1; b.interpretation = delta 0;`,
      ) + ' pairs : (tag, pair) { tag.value = 9; }'
    const text = dtd.replace(
      'section s 1 { } pairs',
      'pair : (x, y) { x.width = 1; x.interpretation = none; y.interpretation = default 5; }\npairs',
    )
    expect(fieldsOf(text, '04 00010203040506070809 02  aa 02 01 01  bb 01 01  77 03 616263')).toEqual([
      {
        raw: 'AAECAwQFBgcICQ==',
        n: [
          { a: 0xaan, b: [1n, 2n] },
          { a: 0xbbn, b: [3n] },
        ],
        two: { x: 0x77n, y: 5n },
        vfield: { data: 'YWJj' },
      },
    ])
  })

  test('events of the model, comments and sections', () => {
    const dtd = `tag.width = 1; size.width = 2; size.interpretation = none; address.width = 4; address.interpretation = none;
      cpu.width = 4; cpu.interpretation = baseOffset 0; line.width = 8; line.interpretation = none;
      free : (tag, address) { tag.value = 9; }
      section one 1 { alloc : (tag, address, size, cpu, line, text : vfield, vfield) { tag.value = 4; } }
      section two 2 { realloc : (tag, old, new) { tag.value = 4; old.width = 1; old.interpretation = none; new.width = 1; new.interpretation = none; } }`
    const bytes = `01 02 6869  09 00001000
      02 01  04 00002000 0010 fffffffe 0000000000000007 01 61 02 6263
             04 00002000 0010 7fffffff 0000000100000000 00 00
      02 02  04 01 02  09 00003000  02 00  09 00004000`
    const { events, error } = decode(dtd, bytes)
    expect(error).toBeUndefined()
    expect(events).toEqual([
      { kind: 'comment', text: 'hi' },
      { kind: 'free', address: 0x1000n },
      {
        kind: 'alloc',
        address: 0x2000n,
        size: 16n,
        cpu: -2,
        line: 7,
        text: 'a',
        attributes: new Uint8Array([0x62, 0x63]),
      },
      { kind: 'alloc', address: 0x2000n, size: 16n, cpu: 0x7fffffff, text: '', fields: { line: 2n ** 32n } },
      { kind: 'realloc', oldAddress: 1n, address: 2n },
      { kind: 'free', address: 0x3000n },
      { kind: 'free', address: 0x4000n },
    ])
  })
})

describe('metadata', () => {
  const dtd = recordOf('x, y', 'x.width = 2; x.interpretation = none; y.interpretation = default 0;')
  // 03, tag of the record, field, property, values of 4 bytes.
  test.each([
    ['a width', '03 04 01 00 00000001  04 09', [{ x: 9n }]],
    ['a width of 3 bytes', '03 04 01 00 00000003  04 000001', [{ x: 1n }]],
    ['baseOffset keeps the width', '03 04 01 02 00001000  04 ffff', [{ x: 0xfffn }]],
    ['delta', '03 04 01 03 00000010  04 0001 04 ffff', [{ x: 17n }, { x: 16n }]],
    ['delta, set again', '03 04 01 03 00000010  04 0001  03 04 01 03 00000010  04 0001', [{ x: 17n }, { x: 17n }]],
    ['default', '03 04 01 04 00000007  04', [{ x: 7n }]],
    [
      'default, and none again with the last width',
      '03 04 01 04 00000007  04  03 04 01 01  04 0102',
      [{ x: 7n }, { x: 0x102n }],
    ],
    [
      'a width for what is not stored is one for later',
      '03 04 01 04 00000007  03 04 01 00 00000001  04  03 04 01 01  04 02',
      [{ x: 7n }, { x: 2n }],
    ],
    ['stride, which is signed', '03 04 01 06 00000010 ffffffff  04 04', [{ x: 15n }, { x: 14n }]],
    ['sectionOffset', '03 04 01 05 00000001  04 0003', [{ x: 3n }]],
    ['a field that was silent speaks', '04 0001  03 04 02 04 00000000  04 0001', [{ x: 1n }, { x: 1n, y: 0n }]],
    ['none alone leaves it 0 bytes', '03 04 02 01  04 0001', [{ x: 1n, y: 0n }]],
    [
      'only in its section',
      '03 04 01 00 00000001  04 09  02 01  04 0009  02 00  04 08',
      [{ x: 9n }, { x: 9n }, { x: 8n }],
    ],
  ])('%s', (_, bytes, fields) => {
    expect(fieldsOf(dtd, bytes)).toEqual(fields)
  })

  test('gives bytes another width, and comments longer lengths', () => {
    const bytes = recordOf('vfield', '')
    expect(fieldsOf(bytes, '04 01 61  03 04 02 00 00000002  04 07 6162  04 02 6162')).toEqual([
      { vfield: { data: 'YQ==' } },
      { vfield: { length: 7n, data: 'YWI=' } },
      { vfield: { data: 'YWI=' } },
    ])
    expect(decode(bytes, '03 01 01 00 00000002  01 0003 616263').events).toEqual([{ kind: 'comment', text: 'abc' }])
  })

  test.each([
    ['an unknown tag', '03 63 01 01', 'metadata for the unknown tag 99'],
    ['an unknown field', '03 04 03 01', 'metadata for the unknown field 3 of r'],
    ['an unknown property', '03 04 01 08', 'metadata with the unknown property 8'],
    ['the tag', '03 04 00 01', 'metadata for a tag'],
    ['too wide a number', '03 04 01 00 00000009', 'a width of 9 bytes for field 1 (x) of r, a number'],
    ['a width of 2^31', '03 04 01 00 80000000', 'a width of 2147483648 bytes for field 1 (x) of r, a number'],
    ['an unknown section', '03 04 01 05 00000002', 'interpretation sectionOffset with the unknown section 2'],
    ['no table', '03 04 01 07 00000001 00000001', 'interpretation sectionStride with section 1, which is no table'],
    ['metadata of metadata', '03 03 02 04 00000001', 'interpretation default for field 2 (field) of metadata'],
    [
      'metadata without room for itself',
      '03 03 03 00 00000000',
      'a width of 0 bytes for field 3 (property) of metadata',
    ],
    [
      'bytes as numbers',
      '03 01 02 03 00000000',
      'interpretation delta for field 2 (data) of comment, which is bytes and no number',
    ],
  ])('about %s is malformed', (_, bytes, reason) => {
    const { events, error } = decode(dtd, `04 0001 ${bytes}`)
    expect(events).toHaveLength(1)
    expect(error).toMatchObject({
      code: 'ERR_TRACE_MALFORMED',
      offset: 3,
      event: 2,
      message: `metatf: byte 3, event 2: malformed: ${reason}`,
    })
  })
})

describe('hostile traces', () => {
  const LONG = recordOf('n*x', 'n.width = 4; n.interpretation = none; x.width = 1; x.interpretation = none;')
  const EMPTY = recordOf('n*x', 'n.width = 8; n.interpretation = none; x.interpretation = default 1;')
  const NESTED = recordOf(
    'n, m, n*(m*x)',
    `n.width = 4; n.interpretation = none; m.width = 4; m.interpretation = none;
    x.interpretation = stride 0 1;`,
  )
  const WIDE = recordOf('n, x', 'n.width = 4; n.interpretation = none; x.width = n.value; x.interpretation = none;')
  const INT = recordOf('n, x', 'n.width = 4; n.interpretation = none; x.width = n.value; x.interpretation = delta 0;')

  test.each([
    ['repeats 2^32 - 1 times', LONG, '04 ffffffff 01', 'ERR_TRACE_LIMIT', 'record r has more than 65536 values'],
    [
      'repeats nothing 2^64 - 1 times',
      EMPTY,
      '04 ffffffffffffffff',
      'ERR_TRACE_LIMIT',
      'record r has more than 65536 values',
    ],
    [
      'repeats 2^16 times 2^16 times',
      NESTED,
      '04 0000ffff 0000ffff',
      'ERR_TRACE_LIMIT',
      'record r has more than 65536 values',
    ],
    [
      'repeats empty lists',
      NESTED,
      '04 0000ffff 00000000',
      'ERR_TRACE_LIMIT',
      'record r repeats what takes no bytes too often',
    ],
    [
      'repeats what is not stored',
      EMPTY,
      '04 0000000000000500',
      'ERR_TRACE_LIMIT',
      'record r repeats what takes no bytes too often',
    ],
    ['is 2^31 wide', WIDE, '04 80000000 01', 'ERR_TRACE_LIMIT', 'field x of r has 2147483648 bytes, more than 65536'],
    [
      'is a number of 9 bytes',
      INT,
      '04 00000009 01',
      'ERR_TRACE_MALFORMED',
      'field x of r has 9 bytes, but a number has at most 8',
    ],
    ['has an unknown tag', WIDE, '05', 'ERR_TRACE_MALFORMED', 'unknown tag 5'],
    ['has an unknown tag in a section', WIDE, '02 01 05', 'ERR_TRACE_MALFORMED', 'unknown tag 5 in section s'],
    ['goes to an unknown section', WIDE, '02 07', 'ERR_TRACE_MALFORMED', 'there is no section 7'],
  ])('a record that %s', (_, dtd, bytes, code, reason) => {
    const time = stopwatch()
    const { error } = decode(dtd, bytes)
    expect(error).toMatchObject({ code })
    expect(error?.message).toMatch(new RegExp(`: ${reason}$`))
    expect(time()).toBeLessThan(2000)
  })

  test('a record may be as long as it is, in whatever pieces', () => {
    const bytes = Buffer.concat([Buffer.from([4, 0, 0, 0xea, 0x60]), Buffer.alloc(60_000, 7)])
    expect(decode(LONG, bytes, { size: 5000 }).events[0]?.fields).toEqual({
      x: Array.from({ length: 60_000 }, () => 7n),
    })
    expect(decode(LONG, bytes.subarray(0, -1), { size: 5000 }).error?.message).toBe(
      'metatf: byte 0, event 1: truncated: the trace ends inside a record',
    )
  })

  test('a record of too many bytes does not use up memory', () => {
    const many = Array.from({ length: 20 }, () => 'x').join(', ')
    const dtd = recordOf(many, 'x.width = 60000; x.interpretation = none;')
    expect(
      decode(dtd, Buffer.concat([Buffer.from([4]), Buffer.alloc(2_000_000)]), { size: 65_536 }).error?.message,
    ).toBe('metatf: byte 0, event 1: over the limit: a record has more than 1048576 bytes')
    expect(decode(dtd, Buffer.concat([Buffer.from([4]), Buffer.alloc(2_000_000)])).error?.message).toBe(
      'metatf: byte 0, event 1: over the limit: record r has more than 1048576 bytes',
    )
  })

  test('states of large records in all sections are bounded', { tags: ['slow'] }, () => {
    const fields = Array.from({ length: 9000 }, (_, i) => `f${i}`).join(', ')
    const dtd = `tag.width = 1; a : (tag, ${fields}) { tag.value = 4; }
      ${Array.from({ length: 9000 }, (_, i) => `f${i}.interpretation = default 0;`).join('\n')}
      ${Array.from({ length: 255 }, (_, i) => `section s${i + 1} ${i + 1} { }`).join('\n')}`
    const bytes = Buffer.from(Array.from({ length: 255 }, (_, i) => [2, i + 1, 4]).flat())
    expect(decode(dtd, bytes).error?.message).toMatch(
      /over the limit: the record types of all sections have more than 1048576 fields$/,
    )
  })
})

test('a length with the default 0, which the event does not have, is not in its fields whatever the bytes are', () => {
  const dtd = `tag.width = 1; n.interpretation = default 0;
    r : (tag, n, data) { tag.value = 4; data.width = n.value; data.interpretation = none; }`
  // Metadata gives the bytes a width of 2.
  const { events, error } = decode(dtd, '04 03 04 02 00 00000002 04 6162')
  expect(error).toBeUndefined()
  expect(events).toEqual([
    { kind: 'other', type: 'r', code: 4, fields: { data: '' } },
    { kind: 'other', type: 'r', code: 4, fields: { data: 'YWI=' } },
  ])
})
