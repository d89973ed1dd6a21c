import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { BATCH_EVENTS } from '../../../lib/event/batch.js'
import {
  KmemtraceDecoder,
  KmemtraceEncoder,
  type KmemtraceDecodeOptions,
} from '../../../lib/formats/kmemtrace/index.js'
import { decodeAll, encodeAll } from '../../support/drive.js'
import { ALLOC, BIG, FREE, LITTLE, PTR, SITE, feature, join, pack, type Packing } from './bytes.js'

const SIZES = [1, 7, 64, undefined]

function decode(bytes: Uint8Array, options?: KmemtraceDecodeOptions, size?: number) {
  const decoder = new KmemtraceDecoder(options)
  return { ...decodeAll(decoder, bytes, size), warnings: decoder.warnings }
}

/** Decodes in pieces of all sizes, expects the same each time and the same bytes from it, and gives the events. */
function events(bytes: Uint8Array, options?: KmemtraceDecodeOptions): TraceEvent[] {
  const [first, ...others] = SIZES.map((size) => decode(bytes, options, size))
  for (const decoded of [first, ...others]) {
    expect(decoded?.error).toBeUndefined()
    expect(decoded?.events).toEqual(first?.events)
    expect(decoded?.headers).toEqual(first?.headers)
    expect(decoded?.warnings).toEqual(first?.warnings)
    const encoder = new KmemtraceEncoder({ strict: true, ...(options?.cpu !== undefined && { cpu: options.cpu }) })
    expect(encodeAll(encoder, decoded?.batches ?? [])).toEqual(bytes)
  }
  return first?.events ?? []
}

const CORE = { callSite: SITE, address: PTR }
const BLOCK = { ...CORE, size: 100n, usable: 128n, gfpFlags: 0xd0, node: -1 }

describe.each([
  ['little', LITTLE],
  ['big', BIG],
] as const)('%s-endian per-CPU files', (byteOrder, order) => {
  it('have the six events of ABI version 1', () => {
    const bytes = pack(
      order,
      ALLOC,
      { ...ALLOC, type: 1, seq: 5, node: 1 },
      { ...ALLOC, type: 2 },
      FREE,
      { ...FREE, type: 1 },
      { ...FREE, type: 2 },
    )
    expect(bytes).toHaveLength(3 * 48 + 3 * 24)
    const free = { kind: 'free', sequence: 2, callSite: SITE + 64n, address: PTR }
    expect(events(bytes)).toEqual([
      { kind: 'alloc', api: 'kmalloc', sequence: 1, ...BLOCK },
      { kind: 'alloc', api: 'kmem_cache_alloc', sequence: 5, ...BLOCK, node: 1 },
      { kind: 'alloc', api: 'pages', sequence: 1, ...BLOCK },
      { ...free, api: 'kfree' },
      { ...free, api: 'kmem_cache_free' },
      { ...free, api: 'pages' },
    ])
    expect(decode(bytes).headers).toEqual([{ format: 'kmemtrace', layout: { byteOrder, layout: 'relay' } }])
  })

  it('have values of all bits', () => {
    const all = 2n ** 64n - 1n
    const values = {
      seq: -1,
      callSite: all,
      ptr: all,
      bytesReq: all,
      bytesAlloc: all,
      gfpFlags: 0xffff_ffff,
      node: -2_147_483_648,
    }
    const bytes = pack(order, ALLOC, { event: 0, type: 0, ...values })
    expect(events(bytes)[1]).toEqual({
      kind: 'alloc',
      api: 'kmalloc',
      sequence: -1,
      callSite: all,
      address: all,
      size: all,
      usable: all,
      gfpFlags: 0xffff_ffff,
      node: -2_147_483_648,
    })
  })

  it('have sequence numbers that wrap', () => {
    const numbers = [2_147_483_646, 2_147_483_647, -2_147_483_648, -2_147_483_647]
    expect(events(pack(order, ...numbers.map((seq) => ({ ...FREE, seq })))).map(({ sequence }) => sequence)).toEqual(
      numbers,
    )
  })

  it('can be told which CPU they are of', () => {
    const bytes = join(pack(order, ALLOC, FREE), new Uint8Array(24))
    expect(events(bytes, { cpu: 7 }).map(({ cpu }) => cpu)).toEqual([7, 7, 7])
    expect(decode(bytes, { cpu: 7 }).headers[0]?.layout).toEqual({ byteOrder, layout: 'relay', cpu: 7 })
  })

  it('have features behind the mandatory part', () => {
    const tail = join(feature(order, 1, 'a'), feature(order, 255, ''), feature(order, 2, 'x'.repeat(300)))
    const bytes = pack(order, ALLOC, { ...ALLOC, tail }, { ...FREE, tail: feature(order, 9, 'abcde') })
    const [, alloc, free] = events(bytes)
    expect(alloc).toEqual({ kind: 'alloc', api: 'kmalloc', sequence: 1, ...BLOCK, attributes: tail })
    expect(free?.attributes).toEqual(feature(order, 9, 'abcde'))
    expect(decode(bytes).warnings).toEqual([])
  })

  it('may have bytes there that are no features: they are carried, with one warning', () => {
    const bytes = pack(
      order,
      FREE,
      ALLOC,
      { ...FREE, tail: Uint8Array.of(1) },
      { ...FREE, tail: Uint8Array.of(255, 255, 1, 2) },
    )
    expect(events(bytes).map(({ attributes }) => attributes)).toEqual([
      undefined,
      undefined,
      Uint8Array.of(1),
      Uint8Array.of(255, 255, 1, 2),
    ])
    expect(decode(bytes).warnings).toEqual([expect.stringMatching(/^kmemtrace: byte 72, event 3: .*not features/)])
  })

  it('may have types and events that are not known', () => {
    const other = { event: 200, type: 100, seq: 3, callSite: SITE, ptr: PTR }
    const bytes = pack(order, ALLOC, { ...ALLOC, type: 3 }, { ...FREE, type: 255 }, other, {
      ...other,
      event: 2,
      type: 0,
      tail: Uint8Array.of(0, 9),
    })
    expect(events(bytes).slice(1)).toEqual([
      { kind: 'alloc', sequence: 1, ...BLOCK, code: 0x300 },
      { kind: 'free', sequence: 2, callSite: SITE + 64n, address: PTR, code: 0xff01 },
      { kind: 'other', sequence: 3, ...CORE, code: 200 | (100 << 8) },
      { kind: 'other', sequence: 3, ...CORE, code: 2, attributes: Uint8Array.of(0, 9) },
    ])
    expect(decode(bytes).warnings).toEqual([])
  })

  it('may have records of the greatest size', () => {
    const tail = new Uint8Array(65_535 - 24).fill(0x55)
    const bytes = pack(
      order,
      ALLOC,
      FREE,
      ...Array.from({ length: 9 }, () => ({ event: 3, type: 1, seq: 4, tail })),
      FREE,
    )
    for (const size of [4096, 65_536, undefined]) {
      const { events, error, batches } = decode(bytes, {}, size)
      expect(error).toBeUndefined()
      expect(events).toHaveLength(12)
      expect(Buffer.compare(events[10]?.attributes as Uint8Array, tail)).toBe(0)
      expect(Buffer.compare(encodeAll(new KmemtraceEncoder({ strict: true }), batches), bytes)).toBe(0)
    }
  })

  it('may have all-zero records: each row of them is one event, and they are counted', () => {
    const zeros = (n: number) => new Uint8Array(24 * n)
    const bytes = join(zeros(1), pack(order, ALLOC), zeros(3), pack(order, FREE), zeros(2))
    expect(events(bytes).map(({ kind, count }) => count ?? kind)).toEqual([1n, 'alloc', 3n, 'free', 2n])
    expect(decode(bytes).warnings).toEqual([
      'kmemtrace: byte 0: the first of 6 all-zero records, in whose place the recorder lost events',
    ])
  })

  it('may begin with more zeros than are looked at to find out the layout', () => {
    const n = 3 * BATCH_EVENTS + 1
    const bytes = join(new Uint8Array(24 * n), pack(order, ALLOC))
    for (const size of [1000, 65_536]) {
      const { events, headers, batches } = decode(bytes, {}, size)
      expect(events).toEqual([
        { kind: 'lost', count: BigInt(n) },
        { kind: 'alloc', api: 'kmalloc', sequence: 1, ...BLOCK },
      ])
      expect(headers[0]?.layout).toEqual({ byteOrder, layout: 'relay' })
      expect(Buffer.compare(encodeAll(new KmemtraceEncoder(), batches), bytes)).toBe(0)
    }
  })
})

describe.each([
  [true, 8],
  [false, 8],
  [true, 4],
  [false, 4],
] as const)('the later layout, little-endian %s, words of %i bytes', (little, word) => {
  const order: Packing = { little, word }
  const callSite = word === 8 ? SITE : 0xc01a_2b3cn
  const ptr = word === 8 ? PTR : 0xdf8e_4a00n
  const alloc = { ...ALLOC, callSite, ptr, cpu: 3, time: 1_000_000_123n }
  const free = { ...FREE, callSite, ptr, cpu: 4_000_000_000, time: 2n ** 63n }

  it('has CPU and time', () => {
    const bytes = pack(order, alloc, free, { ...free, type: 8, tail: feature(order, 1, 'x') }, { ...free, event: 2 })
    expect(bytes).toHaveLength(word === 8 ? 56 + 32 + 36 + 32 : 40 + 24 + 28 + 24)
    const core = { callSite, address: ptr }
    const late = { ...core, cpu: 4_000_000_000 | 0, time: 2n ** 63n }
    expect(events(bytes)).toEqual([
      {
        kind: 'alloc',
        api: 'kmalloc',
        cpu: 3,
        time: 1_000_000_123n,
        ...core,
        size: 100n,
        usable: 128n,
        gfpFlags: 0xd0,
        node: -1,
      },
      { kind: 'free', api: 'kfree', ...late },
      { kind: 'free', ...late, code: 0x801, attributes: feature(order, 1, 'x') },
      { kind: 'other', ...late, code: 2 },
    ])
    const layout = { byteOrder: little ? 'little' : 'big', layout: 'ftrace', ...(word === 4 && { wordSize: 4 }) }
    expect(decode(bytes).headers).toEqual([{ format: 'kmemtrace', timeUnit: 'ns', layout }])
  })

  it('says the CPU itself, whatever the file is', () => {
    const { events, headers } = decode(pack(order, alloc), { cpu: 1 })
    expect(events[0]?.cpu).toBe(3)
    expect(headers[0]?.layout).not.toHaveProperty('cpu')
  })

  it('has all-zero records of its own size', () => {
    const bytes = join(pack(order, alloc), new Uint8Array(2 * (word === 8 ? 32 : 24)), pack(order, alloc))
    expect(events(bytes)[1]).toEqual({ kind: 'lost', count: 2n })
  })
})

describe('an empty file', () => {
  it('is a trace of a CPU on which nothing happened', () => {
    const { events, headers, error } = decode(new Uint8Array(0), { cpu: 2 })
    expect({ events, error }).toEqual({ events: [], error: undefined })
    expect(headers).toEqual([{ format: 'kmemtrace', layout: { byteOrder: 'little', layout: 'relay', cpu: 2 } }])
  })

  it('of zeros only has lost events only', () => {
    expect(decode(new Uint8Array(240)).events).toEqual([{ kind: 'lost', count: 10n }])
  })
})

describe('a live pipe', () => {
  it('gives each record as soon as it is whole', () => {
    const decoder = new KmemtraceDecoder()
    for (const [i, record] of [pack(LITTLE, ALLOC), pack(LITTLE, FREE), pack(LITTLE, FREE)].entries()) {
      decoder.feed(record.slice(0, 23))
      expect(decoder.next()).toBeNull()
      decoder.feed(record.slice(23))
      expect([...(decoder.next() ?? [])]).toHaveLength(1)
      expect(decoder.next(), `record ${i}`).toBeNull()
    }
  })

  it('that is truncated gives what was held back, and no error of its own', () => {
    // Frees on which relay and the 32-bit layout agree are held back until one record tells.
    const decoder = new KmemtraceDecoder()
    decoder.feed(join(pack(LITTLE, { ...FREE, callSite: 1n }), new Uint8Array(24), Uint8Array.of(1, 0)))
    expect(decoder.next()).toBeNull()
    decoder.endTruncated()
    expect([...(decoder.next() ?? [])].map(({ kind }) => kind)).toEqual(['free', 'lost'])
    expect(decoder.next()).toBeNull()
  })
})
