import { describe, expect, test } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { TraceError } from '../../../lib/event/error.js'
import {
  binaryDecoder,
  binaryEncoder,
  formatFileHeader,
  parseFileHeader,
  type SectionHeader,
} from '../../../lib/entry/metatf.js'
import { headerLength } from '../../../lib/metatf/binary/header.js'
import { parseDtd } from '../../../lib/metatf/index.js'
import { decodeAll, drive, encodeEvents, slices } from '../../support/drive.js'
import { someOf } from '../../support/runs.js'
import { SPLIT, decode, encode, hex } from './support.js'

const HEADER = '7f4d5446 02 02 05 000000000000000000 00000001 0000002d 00000002 782e647464'

/** Records take `x` from section 2, whose elements have no tags, and `y` from section 3, whose elements have some. */
const TABLES = `tag.width = 1;
  r : (tag, x) { tag.value = 4; x.interpretation = sectionStride 2 1; }
  s : (tag, y) { tag.value = 5; y.interpretation = sectionStride 3 1; }
  t : (tag, x) { tag.value = 6; x.interpretation = sectionStride 2 3; }
  n : (tag, x, z) { tag.value = 7; x.interpretation = sectionStride 2 0; z.width = 1; z.interpretation = none; }
  section raw 2 { element : (v) { v.width = 2; v.interpretation = none; } }
  section tagged 3 { element : (tag, v) { tag.value = 9; v.width = 2; v.interpretation = delta 100; } }`

const DTD = parseDtd(TABLES, 'x.dtd')

/** A file: a header without a name, and parts; those with an ID are listed. */
function file(
  parts: readonly [id: number | null, bytes: string][],
  options: { records?: number; order?: 'big' | 'little' } = {},
) {
  const listed = parts.filter(([id]) => id !== null)
  const start = headerLength(0, listed.length)
  const sections: SectionHeader[] = []
  let at = start
  for (const [id, bytes] of parts) {
    const size = hex(bytes).length
    if (id !== null) sections.push({ id, start: at, size })
    at += size
  }
  const header = formatFileHeader({
    addressSize: 64,
    byteOrder: options.order ?? 'big',
    dtd: '',
    start,
    records: options.records ?? 0,
    sections,
  })
  return new Uint8Array(Buffer.concat([header, ...parts.map(([, bytes]) => hex(bytes))]))
}

/** The values of the records that a file has. */
function valuesOf(bytes: Uint8Array, options = {}, size?: number) {
  const { events, error } = decodeAll(binaryDecoder(DTD, options), bytes, size)
  return { values: events.map(({ fields }) => Object.values(fields ?? {})[0]), error: error?.message }
}

/** Reads from bytes as from a file. */
const reading = (bytes: Uint8Array, piece = 3) => ({
  read: (offset: number, length: number) => bytes.slice(offset, offset + Math.min(length, piece)),
})

describe('the header', () => {
  test('is what it is', () => {
    const header = hex(`${HEADER} 00000001 0000002d 00000003`)
    expect(parseFileHeader(header)).toEqual({
      addressSize: 64,
      byteOrder: 'big',
      dtd: 'x.dtd',
      start: 45,
      records: 2,
      length: 45,
      sections: [{ id: 1, start: 45, size: 3 }],
    })
    expect(formatFileHeader(parseFileHeader(header) as never)).toEqual(header)
    for (let length = 0; length < header.length; length++)
      expect(parseFileHeader(header.subarray(0, length))).toBeNull()
  })

  test('in the other byte order', () => {
    const header = {
      addressSize: 32,
      byteOrder: 'little',
      dtd: 'http://x.org/ü',
      start: 300,
      records: 7,
      sections: [{ id: 2, start: 99, size: 9 }],
    } as const
    expect(parseFileHeader(formatFileHeader(header))).toEqual({ ...header, length: 28 + 15 + 12 })
    expect(() => formatFileHeader({ ...header, dtd: 'x'.repeat(256) })).toThrow(
      "the DTD's name has 256 bytes, more than 255",
    )
  })

  const bad = (change: (bytes: Uint8Array) => void) => {
    const bytes = hex(`${HEADER} 00000002 0000002d 00000003 040404`)
    change(bytes)
    return decodeAll(binaryDecoder(DTD), bytes).error?.message
  }
  test.each([
    ['class', 4, 3, 'byte 4, event 1: malformed: the class is 3, neither 1 (32 bits) nor 2 (64 bits)'],
    [
      'byte order',
      5,
      0,
      'byte 5, event 1: malformed: the byte order is 0, neither 1 (little-endian) nor 2 (big-endian)',
    ],
    ['sections', 18, 2, 'byte 16, event 1: malformed: there are 513 section headers, more than sections can have IDs'],
    ['start', 23, 5, 'byte 20, event 1: malformed: the records begin at byte 5, inside the header of 45 bytes'],
    ['section', 36, 9, 'byte 0, event 1: malformed: the header lists section 9, which the DTD does not have'],
    ['place', 40, 9, 'byte 0, event 1: malformed: section 2 begins at byte 9, inside of what comes before it'],
  ])('with a wrong %s', (_, at, value, message) => {
    expect(bad((bytes) => (bytes[at] = value))).toBe(`metatf: ${message}`)
  })

  test('is told by its magic number, or by the option', () => {
    const dtd = 'tag.width = 1; x : (tag) { tag.value = 0x7f; } section raw 2 { }'
    expect(decode(dtd, '7f', { header: false }).events).toMatchObject([{ type: 'x' }])
    expect(decode(dtd, '7f').error?.message).toBe(
      'metatf: byte 0, event 1: truncated: the trace ends inside its header',
    )
    expect(decode(dtd, '04', { header: true }).error?.message).toBe(
      'metatf: byte 0, event 1: malformed: this does not begin like a Meta-TF trace file',
    )
    expect(decode(dtd, '').headers).toEqual([{ format: 'metatf', layout: { header: false, byteOrder: 'big' } }])
    expect(decode(dtd, '', { header: true }).error?.message).toBe(
      'metatf: byte 0, event 1: truncated: the trace ends inside its header',
    )
  })
})

describe('tables', () => {
  const records = '04 05 04 05'
  const values = [1n, 101n, 2n, 99n]

  test.each([1, 2, 1000])('before the records, in pieces of %i', (size) => {
    const bytes = file([
      [2, '0001 0002 0003'],
      [3, '09 0001 01 01 61 09 fffe'],
      [0, records],
    ])
    const { events, error } = decodeAll(binaryDecoder(DTD), bytes, size)
    expect(error).toBeUndefined()
    expect(events.map(({ fields, text }) => Object.values(fields ?? {})[0] ?? text)).toEqual(['a', ...values])
    // What is pulled from the file is no more than elements.
    expect(valuesOf(bytes, reading(bytes), size)).toEqual({ values, error: undefined })
  })

  test.each([1, 1000])('behind the records, from a file, in pieces of %i', (size) => {
    const bytes = file([
      [null, records],
      [3, '09 0001 09 fffe'],
      [null, '04'],
      [2, '0001 0002 0003'],
    ])
    expect(valuesOf(bytes, reading(bytes), size)).toEqual({ values: [...values, 3n], error: undefined })
    expect(valuesOf(bytes, {}, size).error).toBe(
      'metatf: byte 52, event 1: malformed: field x of r: element 0 of section 2 has not come yet: ' +
        'sections that come after the records that need them can be read from a file only',
    )
  })

  test('little-endian', () => {
    const bytes = file(
      [
        [2, '0100 0200'],
        [3, '09 0100 09 feff'],
        [0, records],
      ],
      { order: 'little' },
    )
    expect(valuesOf(bytes, reading(bytes))).toEqual({ values, error: undefined })
  })

  test('among the records, with section records and metadata', () => {
    const trace = '02 03 09 0001 09 0001 02 00 05 02 03 03 09 01 00 00000001 09 05 02 00 05 05'
    expect(valuesOf(hex(trace))).toEqual({ values: [101n, 102n, 107n], error: undefined })
    expect(valuesOf(hex(`${trace} 05`)).error).toMatch(
      /event 4: malformed: field y of s: element 3 of section 3 has not come yet/,
    )
  })

  test('strides leave elements out, or take one again', () => {
    const bytes = file([
      [2, '0001 0002 0003 0004 0005'],
      [0, '06 07 00 07 00 06 04'],
    ])
    for (const options of [{}, reading(bytes)]) {
      expect(valuesOf(bytes, options, 1).values).toEqual([1n, 4n, 4n, 4n])
      expect(valuesOf(bytes, options).error).toBe(
        `metatf: byte ${bytes.length - 1}, event 5: malformed: field x of r: section 2 has only 5 elements`,
      )
    }
  })

  test.each([
    ['cut', '0001 00', 'malformed: a record goes beyond the end of its section', 'section 2 ends inside a record'],
  ])('that are %s', (_, table, inOrder, pulled) => {
    const bytes = file([
      [2, table],
      [0, '04 04'],
    ])
    expect(valuesOf(bytes).error).toMatch(inOrder)
    expect(valuesOf(bytes, reading(bytes)).error).toMatch(pulled)
  })

  test.each([
    ['other records', '09 0001 04', 'record r in section 3, which is a table'],
    ['records that take from it', '05 09 0001', 'record s in section 3, which is a table'],
    ['unknown tags', '09 0001 63', 'unknown tag 99 in section 3'],
    ['other sections', '09 0001 02 00', 'a change of the section inside section 3, which is a table'],
    ['a cut record', '09 0001 09 00', 'section 3 ends inside a record'],
    [
      'metadata that makes it take from itself',
      '03 09 01 07 00000003 00000001',
      'interpretation sectionStride in the table that section 3 is',
    ],
  ])('that hold %s, pulled', (_, table, reason) => {
    const bytes = file([
      [0, '05 05'],
      [3, table],
    ])
    const { error } = valuesOf(bytes, reading(bytes))
    expect(error).toContain(`malformed: field y of s: ${reason}`)
  })

  test('are held up to a limit', () => {
    const bytes = file([
      [2, '0001'.repeat(1000)],
      [0, '04'],
    ])
    expect(valuesOf(bytes, { buffer: 8000 })).toEqual({ values: [1n], error: undefined })
    expect(valuesOf(bytes, { buffer: 7992 }).error).toMatch(
      /over the limit: more than 7992 bytes of section 2 come before the records that need them$/,
    )
    expect(valuesOf(bytes, { ...reading(bytes), buffer: 100_000 })).toEqual({ values: [1n], error: undefined })
  })

  test('stand where they should', () => {
    expect(valuesOf(hex('02 02')).error).toMatch('section 2 has no tags, and must have a part of the file of its own')
    const bytes = file([
      [3, '09 0001'],
      [0, '05 02 03 09 0001'],
    ])
    expect(valuesOf(bytes).error).toMatch('section 3 is elsewhere, as the header says')
  })

  test('without bytes for their elements are malformed', () => {
    const dtd = parseDtd(
      'tag.width = 1; r : (tag, x) { tag.value = 4; x.interpretation = sectionStride 2 1; } section raw 2 { e : (v) { v.interpretation = default 1; } }',
    )
    const bytes = file([
      [2, '00'],
      [0, '04'],
    ])
    expect(decodeAll(binaryDecoder(dtd), bytes).error?.message).toMatch('section 2 has elements of no bytes')
    expect(decodeAll(binaryDecoder(dtd, reading(bytes)), bytes).error?.message).toMatch(
      'section 2 has elements of no bytes',
    )
  })
})

describe('the end', () => {
  test('is known from the sections that the header lists', () => {
    const bytes = file([
      [2, '0001'],
      [0, '04'],
    ])
    expect(valuesOf(bytes.subarray(0, -1)).error).toBe(
      'metatf: byte 54, event 1: truncated: the trace ends inside section 0, which ends at byte 55',
    )
    expect(valuesOf(bytes.subarray(0, -2)).error).toMatch('truncated: the trace ends inside a record')
    expect(valuesOf(bytes.subarray(0, -3)).error).toMatch(
      'truncated: the trace ends inside section 2, which ends at byte 54',
    )
  })

  test('is known from the number of records', () => {
    const parts: [number, string][] = [
      [2, '0001 0002 0003'],
      [0, '04 04 04'],
    ]
    expect(valuesOf(file(parts, { records: 3 })).error).toBeUndefined()
    expect(valuesOf(file(parts, { records: 4 })).error).toMatch(
      'truncated: the trace has only 3 of the 4 records that its header says',
    )
    expect(valuesOf(file(parts, { records: 2 }))).toEqual({
      values: [1n, 2n],
      error: 'metatf: byte 60, event 3: malformed: there are more records than the 2 that the header says',
    })
  })

  test('after a cut elsewhere nothing is wrong', () => {
    const decoder = binaryDecoder(DTD)
    decoder.feed(
      file([
        [2, '0001'],
        [0, '04'],
      ]).subarray(0, 53),
    )
    expect(decoder.next()).toBeNull()
    decoder.endTruncated()
    expect(decoder.next()?.count).toBe(0)
    expect(decoder.next()).toBeNull()
  })
})

describe('SplitAddr', () => {
  const events: TraceEvent[] = [
    { kind: 'alloc', size: 16n, address: 0x1000n },
    { kind: 'realloc', size: 32n, oldAddress: 0x1000n, address: 0x7f00_0000_2000n },
    { kind: 'free', address: 0x7f00_0000_2000n },
  ]

  test('among the records', () => {
    const { hex: bytes, losses } = encode(SPLIT, events)
    expect(losses).toEqual({})
    expect(bytes).toBe(
      [
        '0202',
        '04 00001000',
        '04 00001000',
        '03 04 01 00 00000008',
        '04 00007f0000002000',
        '04 00007f0000002000',
        '0200',
        '0201',
        '04 00000010 00',
        '05 00000020 00',
        '06 00',
      ]
        .join('')
        .replaceAll(' ', ''),
    )
    expect(decode(SPLIT, bytes).events).toEqual(events)
  })

  test('contiguous', () => {
    const { bytes } = encode(SPLIT, events, { contiguous: true, name: 'x' })
    const header = parseFileHeader(bytes)
    expect(header).toMatchObject({ records: 3, sections: [{ id: 2 }, { id: 1 }] })
    expect(decode(SPLIT, bytes).events).toEqual(events)
    expect(decode(SPLIT, bytes, reading(bytes)).events).toEqual(events)
    // Records of several sections are one part of the file, in their order.
    const mixed: TraceEvent[] = [{ kind: 'comment', text: 'x'.repeat(300) }, ...events, { kind: 'comment', text: 'y' }]
    const { bytes: all } = encode(SPLIT, mixed, { contiguous: true })
    expect(parseFileHeader(all)).toMatchObject({ records: 3, sections: [{ id: 2 }, { id: 0 }] })
    expect(decode(SPLIT, all).events).toEqual(mixed)
  })

  test('contiguous, truncated: does not look whole', () => {
    for (const count of [0, 3]) {
      const encoder = binaryEncoder(SPLIT, { contiguous: true })
      const out: Uint8Array[] = []
      for (const batch of batchesOf(events.slice(0, count), { format: 'x' })) encoder.feed(batch)
      encoder.endTruncated()
      for (let bytes = encoder.next(); bytes !== null; bytes = encoder.next()) out.push(bytes)
      const { events: read, error } = decode(SPLIT, Buffer.concat(out))
      expect(read).toEqual(events.slice(0, count))
      expect(error?.message).toMatch('truncated: the trace ends')
    }
  })

  test('the bytes do not depend on how the events were cut into batches', () => {
    const many = Array.from({ length: 10_000 }, (_, i): TraceEvent => ({
      kind: 'alloc',
      size: 8n,
      address: BigInt(4096 + 16 * i),
    }))
    const whole = encodeEvents(binaryEncoder(SPLIT), many, { format: 'x' })
    const pieces = encodeEvents(binaryEncoder(SPLIT), decodeAll(binaryDecoder(SPLIT), whole, 999).events, {
      format: 'y',
    })
    expect(pieces).toEqual(whole)
    expect(encodeEvents(binaryEncoder(SPLIT, { latency: true }), many.slice(0, 3), { format: 'x' })).toEqual(
      encodeEvents(binaryEncoder(SPLIT), many.slice(0, 3), { format: 'x' }),
    )
  })

  test('cut at every byte, and any bit flipped: an error or another trace', () => {
    for (const contiguous of [false, true]) {
      const { bytes } = encode(SPLIT, events, { contiguous })
      for (let length = 0; length < bytes.length; length++) {
        const { out, error } = drive(binaryDecoder(SPLIT), slices(bytes.slice(0, length), 7))
        const got = out.flatMap((batch) => [...batch])
        expect(got).toEqual(events.slice(0, got.length))
        if (error !== undefined) expect(error).toMatchObject({ name: 'TraceError', event: got.length + 1 })
        // Without lengths in the header a trace can be cut between records.
        if (contiguous && length > 0) expect(error).toBeInstanceOf(TraceError)
      }
      for (const bit of someOf(bytes.length * 8)) {
        const flipped = bytes.slice()
        flipped[bit >> 3] = flipped[bit >> 3] ^ (1 << (bit & 7))
        for (const options of [{}, reading(flipped, 100)]) {
          const { batches, error } = decodeAll(binaryDecoder(SPLIT, options), flipped)
          if (error !== undefined) expect(error).toBeInstanceOf(TraceError)
          expect(() => drive(binaryEncoder(SPLIT), batches)).not.toThrow()
        }
      }
    }
  })
})
