import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { batchesOf, type EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { kmemtrace } from '../../lib/formats/kmemtrace/index.js'
import { mtrc } from '../../lib/formats/mtrc/index.js'
import { replay } from '../../lib/formats/replay/index.js'
import { binaryDecoder, binaryEncoder, type BinaryEncodeOptions } from '../../lib/entry/metatf.js'
import { parseDtd, type Dtd } from '../../lib/metatf/index.js'
import { NdjsonEncoder } from '../../lib/formats/ndjson/encode.js'
import { corpusFile } from '../support/corpus.js'
import { decodeAll, encodeAll, encodeEvents } from '../support/drive.js'
import { exampleDtd } from './binary/support.js'

const path = (name: string) => new URL(`../../${name}`, import.meta.url)
const text = (name: string) => readFileSync(path(`examples/${name}`), 'utf8')
const golden = (name: string) => readFileSync(path(`test/golden/kmemtrace/${name}.kmemtrace`))

const RELAY = exampleDtd('kmemtrace-relay.dtd')
const FTRACE = exampleDtd('kmemtrace-ftrace.dtd')
const MTRC = exampleDtd('mtrc.dtd')

/** The definition for big-endian traces: event, type and size make other numbers. */
function bigEndian(dtd: string): string {
  return dtd.replaceAll(/(tag\.value = 0x)(..)(..)(..)(..);/g, '$1$5$4$2$3;')
}

/** The definition for traces of 32-bit machines. */
function narrow(dtd: string): string {
  const words = dtd.replaceAll(/^(callSite|address|size|usable)\.width = 8/gm, '$1.width = 4')
  return words.replaceAll(/tag\.value = 0x00(38|20)/g, (_, size) => `tag.value = 0x00${size === '38' ? '28' : '18'}`)
}

function write(dtd: Dtd, batches: readonly EventBatch[], options: BinaryEncodeOptions = {}) {
  const encoder = binaryEncoder(dtd, options)
  const bytes = encodeAll(encoder, batches)
  return { bytes, losses: Object.fromEntries(encoder.losses.counts) }
}

/** Events as lines, for many are compared faster so. */
function lines(events: readonly TraceEvent[]): Buffer {
  return Buffer.from(encodeEvents(new NdjsonEncoder(), events, { format: 'test' }))
}

/** Events of a program as those of a kernel: the only way to have many of them. */
function kernelEvents(): TraceEvent[] {
  const { events } = decodeAll(
    replay.decoder(),
    gunzipSync(readFileSync(path('test/fixtures/replay/mstress-head.txt.gz'))),
    65_536,
  )
  const apis = [
    ['kmalloc', 'kfree'],
    ['kmem_cache_alloc', 'kmem_cache_free'],
    ['pages', 'pages'],
  ] as const
  return events.slice(0, 12_000).flatMap(({ kind, address = 0n, size = 0n }, i): TraceEvent[] => {
    if (kind !== 'alloc' && kind !== 'free') return []
    const [alloc, free] = apis[i % 3] as (typeof apis)[number]
    const at = {
      address: 0xffff_8800_0000_0000n | (address & 0xffff_ffffn),
      callSite: 0xffff_ffff_8100_0000n + BigInt(i % 97),
      cpu: i % 8,
    }
    const time = 1_000_000_000n + BigInt(i * 137)
    if (kind === 'free') return [{ kind, api: free, ...at, time }]
    return [{ kind, api: alloc, ...at, time, size, usable: size + 8n, gfpFlags: 0xd0, node: (i % 3) - 1 }]
  })
}

describe.each([
  ['relay', RELAY, 'little', {}],
  ['relay', parseDtd(bigEndian(text('kmemtrace-relay.dtd')), 'relay-big.dtd'), 'big', {}],
  ['ftrace', FTRACE, 'little', {}],
  ['ftrace', parseDtd(bigEndian(text('kmemtrace-ftrace.dtd')), 'ftrace-big.dtd'), 'big', {}],
  ['ftrace', parseDtd(narrow(text('kmemtrace-ftrace.dtd')), 'ftrace-32.dtd'), 'little', { wordSize: 4 }],
  ['ftrace', parseDtd(bigEndian(narrow(text('kmemtrace-ftrace.dtd'))), 'ftrace-32-big.dtd'), 'big', { wordSize: 4 }],
] as const)('kmemtrace, %s', (layout, dtd, byteOrder, words) => {
  // Two of them have all that differs.
  const tags = ['kmemtrace-relay.dtd', 'ftrace-32-big.dtd'].includes(dtd.file) ? [] : ['slow']
  test(`${dtd.file} reads and writes the kernel's bytes`, { tags }, () => {
    const header = { format: 'kmemtrace', layout: { layout, byteOrder, ...words } }
    // Addresses of 32 bits, where no others have a place.
    const events = kernelEvents().map((event) =>
      'wordSize' in words
        ? ({ ...event, address: (event.address ?? 0n) & 0xffff_ffffn, callSite: 0xc000_0000n } as TraceEvent)
        : event,
    )
    const bytes = encodeEvents(kmemtrace.encoder(), events, header)
    const native = decodeAll(kmemtrace.decoder({ layout, byteOrder }), bytes, 65_536)
    expect(native.events.length).toBeGreaterThan(10_000)

    for (const size of [4097, bytes.length]) {
      const read = decodeAll(binaryDecoder(dtd, { byteOrder }), bytes, size)
      expect(read.error).toBeUndefined()
      expect(read.headers[0]?.timeUnit).toBe(native.headers[0]?.timeUnit)
      expect(lines(read.events).equals(lines(native.events))).toBe(true)
      const again = write(dtd, read.batches)
      expect(again.losses).toEqual({})
      expect(Buffer.compare(again.bytes, bytes)).toBe(0)
    }
    const written = write(dtd, native.batches, { header: false, byteOrder })
    expect(written.losses).toEqual({})
    expect(Buffer.compare(written.bytes, bytes)).toBe(0)
  })
})

describe('kmemtrace, what the definitions cannot say', () => {
  test('records with features, and of unknown types: errors, after all events before them', () => {
    const native = decodeAll(kmemtrace.decoder(), golden('relay'))
    const read = decodeAll(binaryDecoder(RELAY, { byteOrder: 'little' }), golden('relay'))
    expect(read.events).toEqual(native.events.slice(0, 4))
    expect(read.error).toMatchObject({
      code: 'ERR_TRACE_MALFORMED',
      offset: 0xa8,
      event: 5,
      message: expect.stringContaining(`unknown tag ${0x200101}`),
    })

    const ftrace = decodeAll(binaryDecoder(FTRACE, { byteOrder: 'little' }), golden('ftrace'))
    expect(ftrace.events).toEqual(decodeAll(kmemtrace.decoder(), golden('ftrace')).events.slice(0, 3))
    expect(ftrace.error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', event: 4 })
  })

  test('a row of zero records is one event, and here one for each', () => {
    const free = Buffer.from('010018000100000001000000000000000010000000000000', 'hex')
    const bytes = Buffer.concat([free, new Uint8Array(48), free])
    const read = decodeAll(binaryDecoder(RELAY, { byteOrder: 'little' }), bytes)
    expect(read.events.map(({ kind, count }) => [kind, count])).toEqual([
      ['free', undefined],
      ['lost', 1n],
      ['lost', 1n],
      ['free', undefined],
    ])
    expect(write(RELAY, read.batches)).toEqual({ bytes: new Uint8Array(bytes), losses: {} })
    const native = decodeAll(kmemtrace.decoder(), bytes)
    expect(native.events[1]).toMatchObject({ kind: 'lost', count: 2n })
    expect(write(RELAY, native.batches).losses).toEqual({ 'count of lost that is not what it always is there': 1 })
    // What is no zero is no such record.
    const broken = decodeAll(binaryDecoder(RELAY, { byteOrder: 'little' }), Buffer.concat([new Uint8Array(8), free]))
    expect(broken.error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', event: 1 })
  })
})

describe('MTRC', () => {
  /** Through the definition and back to MTRC. */
  function check(
    bytes: Uint8Array,
    resolve: boolean,
  ): { there: Uint8Array; again: Uint8Array; losses: object; header: object | undefined } {
    const native = decodeAll(mtrc.decoder({ resolve }), bytes, 65_536)
    expect(native.error).toBeUndefined()
    const { bytes: there, losses } = write(MTRC, native.batches)
    const read = decodeAll(binaryDecoder(MTRC), there, 65_536)
    expect(read.error).toBeUndefined()
    expect(lines(read.events).equals(lines(resolve ? native.events.map(withoutResolved) : native.events))).toBe(true)
    const second = write(MTRC, read.batches)
    expect(second.losses).toEqual({})
    expect(Buffer.compare(second.bytes, there)).toBe(0)
    const again = encodeEvents(mtrc.encoder(), read.events, { ...(native.headers[0] as { format: string }) })
    return { there, again, losses, header: native.headers[0] }
  }

  /** Only the record of a reallocation has an address, and only the new one. */
  function withoutResolved(event: TraceEvent): TraceEvent {
    const { oldAddress: _, ...record } = event
    if (event.kind !== 'free') return record
    const { address: __, size: ___, ...rest } = record
    return rest
  }

  const git = gunzipSync(readFileSync(path('test/fixtures/mtrc/git.mtrc.gz')))

  test('a real trace comes back with all fields of its records, and as the same bytes', { tags: ['slow'] }, () => {
    const { again, losses, there } = check(git, false)
    expect(losses).toEqual({})
    expect(Buffer.compare(again, git)).toBe(0)
    // Fixed widths against LEB128: the figure in docs/metatf.md.
    expect((there.length / git.length).toFixed(2)).toBe('1.76')
  })

  test('what was looked up in the trace is not in its records, and is counted', () => {
    const bytes = readFileSync(path('test/golden/mtrc/sources.mtrc'))
    const { again, losses } = check(bytes, true)
    expect(losses).toEqual({ oldAddress: 1, 'address of free': 2, 'size of free': 2 })
    expect(Buffer.compare(again, bytes)).toBe(0)
  })

  test('the header of a trace is lost, and nothing else', () => {
    const bytes = readFileSync(path('test/golden/mtrc/sources.mtrc'))
    const { again } = check(bytes, false)
    expect(Buffer.compare(again, bytes)).toBe(0)
    const old = decodeAll(mtrc.decoder({ resolve: false }), readFileSync(path('test/golden/mtrc/old-big-endian.mtrc')))
    const read = decodeAll(binaryDecoder(MTRC), write(MTRC, old.batches).bytes)
    expect(read.headers.map(({ layout }) => layout?.['version'])).toEqual([undefined])
    // Versions before 10405 have no thread and line; here each record has.
    const zeros = { thread: 0n, line: 0 }
    expect(read.events).toEqual(old.events.map((event) => (event.kind === 'reserve' ? event : { ...event, ...zeros })))
  })

  test.each(['mt64', 'cxx64', 'espresso-tiny32', 'small64pie'])(
    'a trace of mpatrol: %s',
    { tags: ['corpus'] },
    (name) => {
      const bytes = corpusFile(`mtrc/${name}.mtrc`)
      const { again, losses } = check(bytes, false)
      expect(losses).toEqual({})
      expect(Buffer.compare(again, bytes)).toBe(0)
    },
  )
})

describe('hatf10-sections.dtd', () => {
  const SECTIONS = exampleDtd('hatf10-sections.dtd')

  test('the code of an event says where its address is put', () => {
    const near = (address: bigint): TraceEvent => ({ kind: 'alloc', size: 24n, address, code: 16 })
    const events: TraceEvent[] = [
      near(0x0804_0000n),
      near(0x0804_0020n),
      { kind: 'free', address: 0x0804_0000n, code: 17 },
      { kind: 'alloc', size: 0x1_0000n, address: 0x7f00_0000_0000n },
      { kind: 'free', address: 0x0805_0000n, code: 11 },
      { kind: 'realloc', outcome: 'moved', size: 48n, oldAddress: 0x0804_0020n, address: 0x0806_0000n, code: 13 },
      { kind: 'realloc', outcome: 'allocated', size: 1n, oldAddress: 0n, address: 0xffff_ffff_ffff_f000n },
    ]
    const encoder = binaryEncoder(SECTIONS, { name: '' })
    const bytes = encodeEvents(encoder, events, { format: 'test' })
    expect(Object.fromEntries(encoder.losses.counts)).toEqual({})
    const sections = { 2: 3 * 8, 3: 3 * 4, 4: 3 * 4, 1: 2 + 3 + 3 + 1 + 5 + 1 + 3 + 5 }
    const read = decodeAll(binaryDecoder(SECTIONS), bytes, 5)
    expect(read.error).toBeUndefined()
    expect(read.events).toEqual(events)
    expect(bytes.length).toBe(28 + 4 * 12 + Object.values(sections).reduce((sum, size) => sum + size, 0))
    // Differences to the one before, the first of them to the constant of the definition.
    expect(Buffer.from(bytes).includes(Buffer.from('8804000000000020ffffffe0', 'hex'))).toBe(true)
  })

  test('events without a code go where any address has a place', () => {
    const events = [...batchesOf([{ kind: 'free', address: 1n << 63n }], { format: 'test' })]
    expect(decodeAll(binaryDecoder(SECTIONS), write(SECTIONS, events).bytes).events).toEqual([
      { kind: 'free', address: 1n << 63n },
    ])
  })
})
