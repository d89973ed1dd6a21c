import { readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KmemtraceDecoder, kmemtrace } from '../../../lib/formats/kmemtrace/index.js'
import { hatf } from '../../../lib/formats/hatf/index.js'
import { sniffFormat } from '../../support/formats.js'
import { decodeAll, encodeEvents } from '../../support/drive.js'
import { runs } from '../../support/runs.js'
import { random as randomHatf } from '../hatf/random.js'
import { ALLOC, BIG, FREE, LITTLE, feature, join, pack, type Fields, type Packing } from './bytes.js'
import { random } from './random.js'

const ORDERS: [string, Packing][] = [
  ['relay little', LITTLE],
  ['relay big', BIG],
  ['ftrace little', { little: true, word: 8 }],
  ['ftrace big', { little: false, word: 8 }],
  ['ftrace 32 little', { little: true, word: 4 }],
  ['ftrace 32 big', { little: false, word: 4 }],
]

/** The layout found, in the words of the table above. */
function found(bytes: Uint8Array, size?: number): string {
  const { byteOrder, layout, wordSize } = decodeAll(new KmemtraceDecoder(), bytes, size).headers[0]?.layout ?? {}
  return [layout, wordSize === 4 && 32, byteOrder].filter(Boolean).join(' ')
}

function narrow(fields: Fields): Fields {
  return { ...fields, callSite: 0xc01a_2b3cn, ptr: 0xdf8e_4a00n, cpu: 1, time: 5_000_000_000n }
}

describe.each(ORDERS)('%s', (name, order) => {
  it.each<[string, Fields[]]>([
    ['one allocation', [ALLOC]],
    ['one allocation by a 32-bit kernel', [narrow(ALLOC)]],
    ['frees, then an allocation', [...Array.from({ length: 60 }, () => narrow(FREE)), narrow(ALLOC)]],
    ['an unknown type first', [{ ...narrow(ALLOC), type: 9 }, narrow(ALLOC)]],
    ['an unknown event first', [{ ...narrow(FREE), event: 9 }, narrow(ALLOC), narrow(ALLOC)]],
    ['a feature first', [{ ...narrow(ALLOC), tail: feature(order, 1, 'abc') }, narrow(ALLOC)]],
  ])('is found by %s', (_, records) => {
    const fitting = records.map((fields) => (order.word === 4 ? narrow(fields) : fields))
    const bytes = pack(order, ...fitting, ...(order.word === undefined ? [] : [narrow(ALLOC)]))
    for (const size of [1, 50, undefined]) expect(found(bytes, size)).toBe(name)
  })

  it('is recognised, behind all-zero records too', () => {
    const bytes = pack(order, narrow(ALLOC), narrow(FREE))
    expect(sniffFormat(bytes)?.name).toBe('kmemtrace')
    expect(sniffFormat(join(new Uint8Array(96), bytes))?.name).toBe('kmemtrace')
  })
})

describe('options', () => {
  it.each([
    ['little', LITTLE],
    ['big', BIG],
  ] as const)('say the layout of records that tell nothing: relay %s', (byteOrder, order) => {
    const bytes = pack(order, { ...FREE, event: 9, tail: new Uint8Array(3000) }, { ...FREE, tail: Uint8Array.of(1, 2) })
    expect(decodeAll(new KmemtraceDecoder(), bytes).error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', offset: 0 })
    const { events, headers } = decodeAll(new KmemtraceDecoder({ layout: 'relay', byteOrder }), bytes)
    expect(events.map(({ kind }) => kind)).toEqual(['other', 'free'])
    expect(headers[0]?.layout).toEqual({ byteOrder, layout: 'relay' })
  })

  it('come before what the records look like', () => {
    const bytes = pack(LITTLE, ...Array.from({ length: 9 }, () => narrow(FREE)))
    const { headers } = decodeAll(new KmemtraceDecoder({ layout: 'ftrace' }), bytes)
    expect(headers[0]?.layout).toEqual({ byteOrder: 'little', layout: 'ftrace', wordSize: 4 })
    expect(decodeAll(new KmemtraceDecoder({ byteOrder: 'big' }), bytes).error).toMatchObject({
      code: 'ERR_TRACE_MALFORMED',
    })
  })

  it('that no records have are refused', () => {
    expect(() => new KmemtraceDecoder({ layout: 'text' as 'relay' })).toThrow(RangeError)
  })
})

describe('records that fit two layouts', () => {
  it.each<[string, Packing, number]>([
    ['allocations of 56 bytes', LITTLE, 0],
    ['frees of 32 bytes', BIG, 1],
  ])('with a feature of 8 bytes are relay: %s', (_, order, event) => {
    const record = { ...(event === 0 ? ALLOC : FREE), tail: feature(order, 1, 'abcde') }
    expect(found(pack(order, record, record))).toBe(order.little ? 'relay little' : 'relay big')
    expect(found(pack(order, narrow(record), narrow(record)))).toBe(order.little ? 'relay little' : 'relay big')
  })

  it('and then fit one only are of that one', () => {
    const order: Packing = { little: true, word: 4 }
    expect(found(pack(order, ...Array.from({ length: 170 }, () => narrow(FREE)), narrow(ALLOC)))).toBe(
      'ftrace 32 little',
    )
  })

  it('beyond what is looked at are relay', () => {
    expect(found(pack(LITTLE, ...Array.from({ length: 200 }, () => narrow(FREE))))).toBe('relay little')
  })
})

describe('bytes of other formats', () => {
  const root = new URL('../../', import.meta.url)
  const files = ['golden', 'fixtures'].flatMap((kind) =>
    readdirSync(new URL(`${kind}/`, root), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'kmemtrace')
      .flatMap(({ name }) => readdirSync(new URL(`${kind}/${name}/`, root)).map((file) => `${kind}/${name}/${file}`)),
  )

  it.each(files)('%s are not claimed', (file) => {
    const bytes = readFileSync(new URL(file, root))
    const plain = file.endsWith('.gz') ? gunzipSync(bytes) : bytes
    for (const length of [64, 1000, 65_536]) expect(kmemtrace.sniff(plain.subarray(0, length))).toBe(false)
  })

  it('such as HATF, which begins with a small number too, are not claimed', () => {
    fc.assert(
      fc.property(randomHatf(), ({ header, events }) => {
        expect(kmemtrace.sniff(encodeEvents(hatf.encoder(), events, header))).toBe(false)
      }),
      { numRuns: runs(300) },
    )
  })

  it.each([
    ['nothing', new Uint8Array(0)],
    ['zeros', new Uint8Array(4096)],
    ['part of a record', pack(LITTLE, ALLOC).subarray(0, 47)],
    ['one record and then something else', join(pack(LITTLE, FREE), Buffer.from('12: malloc 0x1 16'))],
    ['as many unknown records as known ones', pack(LITTLE, FREE, { ...FREE, event: 9 })],
    ['a record and the beginning of an unknown one', pack(LITTLE, FREE, { ...FREE, event: 9 }).subarray(0, 40)],
  ])('%s is not claimed', (_, bytes) => {
    expect(kmemtrace.sniff(bytes)).toBe(false)
  })

  it('what the format can say is, if it begins as streams do', () => {
    fc.assert(
      fc.property(random(0), random(0), ({ header, events }, other) => {
        expect(kmemtrace.sniff(encodeEvents(kmemtrace.encoder(), [...events, ...events], header))).toBe(true)
        expect(sniffFormat(encodeEvents(kmemtrace.encoder(), other.events, other.header))?.name).toBe('kmemtrace')
      }),
    )
  })
})
