// @module-tag slow
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { batchesOf as BatchesOf, EventBatch, TraceEvent } from '../../lib/event/batch.js'
import { random } from '../formats/hatf/random.js'
import { runs } from '../support/runs.js'

/** What the test uses of `bench/size/`, which is JavaScript. */
interface Encoding {
  name: string
  streams: number
  writer(widths: Widths): Writer
  packed?(widths: Widths): Writer
  read?(streams: readonly Uint8Array[], widths: Widths, take: (batch: EventBatch) => void): void
}
interface Widths {
  size: number
  address: number
  heap: number
}
interface Writer {
  feed(batch: EventBatch, give: (stream: number, bytes: Uint8Array) => void): void
  end(give: (stream: number, bytes: Uint8Array) => void): void
}
interface Study {
  ENCODINGS: Encoding[]
  SIZE_ENCODINGS: Encoding[]
  ADDRESS_ENCODINGS: Encoding[]
}
interface Paper {
  SUMMARIES: Record<string, number[]>
  ENCODED: Record<string, string[]>
}
interface RecordsModule {
  dataEvents(batch: EventBatch, withThreads?: boolean): EventBatch
}

const load = (path: string) => import(new URL(`../../${path}`, import.meta.url).href) as Promise<unknown>
const { ENCODINGS, SIZE_ENCODINGS, ADDRESS_ENCODINGS } = (await load('bench/size/encodings.mjs')) as Study
const { SUMMARIES, ENCODED } = (await load('bench/size/paper.mjs')) as Paper
const { dataEvents } = (await load('bench/size/records.mjs')) as RecordsModule
// The benchmarks work on what was built, whose batches are of another class than those of the sources.
const { batchesOf } = (await load('dist/lib/entry/index.js')) as { batchesOf: typeof BatchesOf }

const WIDE = { size: 8, address: 8, heap: 0x2_0000_0000 }
const NARROW = { size: 4, address: 4, heap: 0x8000_0000 }
const HEADER = { format: 'replay' }

const alloc = (address: bigint, size: bigint): TraceEvent => ({ kind: 'alloc', address, size })
const free = (address: bigint): TraceEvent => ({ kind: 'free', address })

function write(
  { streams, writer }: Pick<Encoding, 'streams' | 'writer'>,
  batches: Iterable<EventBatch>,
  widths: Widths,
): Uint8Array[] {
  const pieces = Array.from({ length: streams }, () => [] as Uint8Array[])
  const give = (stream: number, bytes: Uint8Array) => void pieces[stream]?.push(bytes)
  const target = writer(widths)
  for (const batch of batches) target.feed(batch, give)
  target.end(give)
  return pieces.map((parts) => Buffer.concat(parts))
}

function readBack(encoding: Encoding, streams: readonly Uint8Array[], widths: Widths): TraceEvent[] {
  const events: TraceEvent[] = []
  encoding.read?.(streams, widths, (batch) => events.push(...batch))
  return events
}

function named(name: string): Encoding {
  const encoding = ENCODINGS.find((candidate) => candidate.name === name)
  if (encoding === undefined) throw new Error(name)
  return encoding
}

function bytesOf(name: string, events: readonly TraceEvent[], widths: Widths): string[] {
  return write(named(name), batchesOf(events, HEADER), widths).map((bytes) => Buffer.from(bytes).toString('hex'))
}

const hex = (text: string) => text.replaceAll(' ', '')

const moved: TraceEvent = { kind: 'realloc', size: 0x20n, oldAddress: 0x1000n, address: 0x2000n, outcome: 'moved' }

describe('data events', () => {
  test('are those about blocks, without frees of the null pointer', () => {
    const events: TraceEvent[] = [
      { kind: 'existing', address: 1n, size: 2n, thread: 3n },
      { kind: 'thread-create', thread: 4n },
      { ...free(0n), thread: 3n },
      free(0x1_0000_0000n),
      { kind: 'comment', text: 'x' },
      { ...alloc(0n, 5n), api: 'malloc', time: 6n },
    ]
    const [batch] = [...batchesOf(events, HEADER)]
    expect([...dataEvents(batch as EventBatch)]).toEqual([
      { kind: 'existing', address: 1n, size: 2n },
      free(0x1_0000_0000n),
      alloc(0n, 5n),
    ])
    expect([...dataEvents(batch as EventBatch, true)][0]).toEqual(events[0])
  })
})

describe('bytes', () => {
  test('of Simple Binary: four fields each', () => {
    expect(bytesOf('Simple Binary', [alloc(0x0807_1234n, 0x1fn), free(0x0807_1234n)], NARROW)).toEqual([
      hex('00000000 1f000000 34120708 00000000  01000000 00000000 34120708 00000000'),
    ])
    expect(bytesOf('Simple Binary', [alloc(0x7f00_0000_0001n, 2n)], { ...WIDE, size: 4 })).toEqual([
      hex('00000000 02000000 01000000007f0000 0000000000000000'),
    ])
  })

  test('of Split Stream: a stream for each field, the tag of one byte', () => {
    expect(bytesOf('Split Stream', [moved], NARROW)).toEqual([
      hex('00 01 03'),
      hex('20000000 00000000 20000000'),
      hex('00200000 00100000 00200000'),
      hex('00000000 00000000 00100000'),
    ])
  })

  test('of SplitAddr by sections: each address in one of three, and the records behind them', () => {
    // The second alloc is the 33rd address in a row that is not near: it goes to the near ones all the same, and so
    // does the next.
    const far = Array.from({ length: 32 }, (_, i) => free(BigInt(0x1000_0000 * (i % 2))))
    const events = [
      ...far,
      alloc(0x0807_1234n, 1n),
      alloc(0x0807_1254n, 0x1_0000n),
      free(0x0807_1244n),
      free(0x7f00_0000_0000n),
      moved,
    ]
    const [header, anywhere, heap, near, records] = bytesOf('SplitAddr by sections', events, NARROW)
    expect(header?.slice(0, 8)).toBe('7f4d5446')
    expect(anywhere).toBe(hex('0000000008071254 00007f0000000000'))
    expect(heap?.length).toBe(8 * (32 + 4))
    expect(heap?.slice(-8 * 4)).toBe(hex('80002000 80001000 80001000 80002000'))
    expect(near).toBe(hex('88071234 00000010'))
    expect(records?.slice(0, 4 + 2 * 32)).toBe(`0201${'0b'.repeat(32)}`)
    expect(records?.slice(4 + 2 * 32)).toBe(hex('100001 0400010000 11 05 0a0020 0b 0d0020'))
  })

  test('of ASCII: a line for each record', () => {
    const lines = Buffer.from(
      bytesOf('ASCII', [alloc(0x0807_1234n, 31n), moved, free(0xffff_ffff_ffffn)], WIDE)[0] as string,
      'hex',
    ).toString()
    expect(lines).toBe('0 31 8071234\n0 32 2000\n1 1000\n3 32 1000 2000\n1 ffffffffffff\n')
  })
})

describe('every encoding', () => {
  const readable = [...ENCODINGS, ...SIZE_ENCODINGS, ...ADDRESS_ENCODINGS].filter(({ read }) => read !== undefined)

  test('gives back the same records', () => {
    fc.assert(
      fc.property(random(), ({ events }) => {
        const batches = [...batchesOf(events, HEADER)].map((batch) => dataEvents(batch))
        const records = (encoding: Encoding) => readBack(encoding, write(encoding, batches, WIDE), WIDE)
        const expected = records(named('HATF (naive)'))
        for (const encoding of readable) expect(records(encoding), encoding.name).toEqual(expected)
      }),
      { numRuns: runs(50) },
    )
  })

  test('has more records than a batch has room for', { tags: ['slow'] }, () => {
    const events = Array.from({ length: 10_000 }, (_, i): TraceEvent =>
      i % 3 === 0 ? moved : alloc(BigInt(0x1000 + 16 * i), BigInt(i)),
    )
    const batches = [...batchesOf(events, HEADER)]
    const expected = readBack(named('HATF (naive)'), write(named('HATF (naive)'), batches, NARROW), NARROW)
    expect(expected.length).toBe(10_000 + 2 * 3334)
    for (const encoding of readable)
      expect(readBack(encoding, write(encoding, batches, NARROW), NARROW), encoding.name).toEqual(expected)
  })

  test('compresses the single file by itself', () => {
    const single = named('single file')
    const batches = [
      ...batchesOf(
        Array.from({ length: 5000 }, (_, i) => alloc(BigInt((i * 7919) % 4096), 24n)),
        HEADER,
      ),
    ]
    const [raw] = write(single, batches, NARROW)
    const [packed] = write({ ...single, writer: single.packed as Encoding['writer'] }, batches, NARROW)
    expect(packed?.length).toBeLessThan(raw?.length ?? 0)
  })
})

describe("the paper's data records", () => {
  test.each(Object.keys(SUMMARIES))(
    'of %s are those of its Table 3: naive HATF takes 9, 5 and 13 bytes for them',
    (program) => {
      const [allocs = 0, reallocs = 0, frees = 0] = SUMMARIES[program] ?? []
      const mean = (9 * allocs + 5 * frees + 13 * reallocs) / (allocs + frees + reallocs)
      expect(ENCODED[program]?.[2]?.split(' / ')[0]).toBe(mean.toFixed(2))
    },
  )
})
