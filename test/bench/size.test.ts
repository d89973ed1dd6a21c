import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { batchesOf as BatchesOf, EventBatch, TraceEvent } from '../../lib/event/batch.js'
import { random } from '../formats/hatf/random.js'

/** What the test uses of `bench/size/`, which is JavaScript. */
interface Encoding {
  name: string
  streams: number
  writer(widths: Widths): Writer
  packed?(widths: Widths): Writer
  read?(streams: readonly Uint8Array[], widths: Widths, take: (batch: EventBatch) => void): void
}
interface Widths { size: number, address: number }
interface Writer {
  feed(batch: EventBatch, give: (stream: number, bytes: Uint8Array) => void): void
  end(give: (stream: number, bytes: Uint8Array) => void): void
}
interface Study {
  ENCODINGS: Encoding[]
  SIZE_ENCODINGS: Encoding[]
  ADDRESS_ENCODINGS: Encoding[]
}
interface Paper { SUMMARIES: Record<string, number[]>, ENCODED: Record<string, string[]> }
interface RecordsModule { dataEvents(batch: EventBatch, withThreads?: boolean): EventBatch }

const load = (path: string) => import(new URL(`../../${path}`, import.meta.url).href) as Promise<unknown>
const { ENCODINGS, SIZE_ENCODINGS, ADDRESS_ENCODINGS } = (await load('bench/size/encodings.mjs')) as Study
const { SUMMARIES, ENCODED } = (await load('bench/size/paper.mjs')) as Paper
const { dataEvents } = (await load('bench/size/records.mjs')) as RecordsModule
// The benchmarks work on what was built, whose batches are of another class than those of the sources.
const { batchesOf } = (await load('dist/lib/index.js')) as { batchesOf: typeof BatchesOf }

const WIDE = { size: 8, address: 8 }
const NARROW = { size: 4, address: 4 }
const HEADER = { format: 'replay' }

const alloc = (address: bigint, size: bigint): TraceEvent => ({ kind: 'alloc', address, size })
const free = (address: bigint): TraceEvent => ({ kind: 'free', address })

function write({ streams, writer }: Pick<Encoding, 'streams' | 'writer'>, batches: Iterable<EventBatch>, widths: Widths): Uint8Array[] {
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
      { kind: 'existing', address: 1n, size: 2n, thread: 3n }, { kind: 'thread-create', thread: 4n },
      { ...free(0n), thread: 3n }, free(0x1_0000_0000n), { kind: 'comment', text: 'x' }, { ...alloc(0n, 5n), api: 'malloc', time: 6n },
    ]
    const [batch] = [...batchesOf(events, HEADER)]
    expect([...dataEvents(batch as EventBatch)]).toEqual([{ kind: 'existing', address: 1n, size: 2n }, free(0x1_0000_0000n), alloc(0n, 5n)])
    expect([...dataEvents(batch as EventBatch, true)][0]).toEqual(events[0])
  })
})

describe('bytes', () => {
  test('of Simple Binary: four fields each', () => {
    expect(bytesOf('Simple Binary', [alloc(0x0807_1234n, 0x1fn), free(0x0807_1234n)], NARROW)).toEqual([
      hex('00000000 1f000000 34120708 00000000  01000000 00000000 34120708 00000000'),
    ])
    expect(bytesOf('Simple Binary', [alloc(0x7f00_0000_0001n, 2n)], { size: 4, address: 8 })).toEqual([
      hex('00000000 02000000 01000000007f0000 0000000000000000'),
    ])
  })

  test('of Split Stream: a stream for each field, the tag of one byte', () => {
    expect(bytesOf('Split Stream', [moved], NARROW)).toEqual([
      hex('00 01 03'), hex('20000000 00000000 20000000'), hex('00200000 00100000 00200000'), hex('00000000 00000000 00100000'),
    ])
  })

  test('of ASCII: a line for each record', () => {
    const lines = Buffer.from(bytesOf('ASCII', [alloc(0x0807_1234n, 31n), moved, free(0xffff_ffff_ffffn)], WIDE)[0] as string, 'hex').toString()
    expect(lines).toBe('0 31 8071234\n0 32 2000\n1 1000\n3 32 1000 2000\n1 ffffffffffff\n')
  })
})

describe('every encoding', () => {
  const readable = [...ENCODINGS, ...SIZE_ENCODINGS, ...ADDRESS_ENCODINGS].filter(({ read }) => read !== undefined)

  test('gives back the same records', () => {
    fc.assert(fc.property(random(), ({ events }) => {
      const batches = [...batchesOf(events, HEADER)].map((batch) => dataEvents(batch))
      const records = (encoding: Encoding) => readBack(encoding, write(encoding, batches, WIDE), WIDE)
      const expected = records(named('HATF (naive)'))
      for (const encoding of readable) expect(records(encoding), encoding.name).toEqual(expected)
    }), { numRuns: 50 })
  })

  test('has more records than a batch has room for', () => {
    const events = Array.from({ length: 10_000 }, (_, i): TraceEvent => (i % 3 === 0 ? moved : alloc(BigInt(0x1000 + 16 * i), BigInt(i))))
    const batches = [...batchesOf(events, HEADER)]
    const expected = readBack(named('HATF (naive)'), write(named('HATF (naive)'), batches, NARROW), NARROW)
    expect(expected.length).toBe(10_000 + 2 * 3334)
    for (const encoding of readable) expect(readBack(encoding, write(encoding, batches, NARROW), NARROW), encoding.name).toEqual(expected)
  })

  test('compresses the single file by itself', () => {
    const single = named('single file')
    const batches = [...batchesOf(Array.from({ length: 5000 }, (_, i) => alloc(BigInt((i * 7919) % 4096), 24n)), HEADER)]
    const [raw] = write(single, batches, NARROW)
    const [packed] = write({ ...single, writer: single.packed as Encoding['writer'] }, batches, NARROW)
    expect(packed?.length).toBeLessThan(raw?.length ?? 0)
  })
})

describe("the paper's data records", () => {
  test.each(Object.keys(SUMMARIES))('of %s are those of its Table 3: naive HATF takes 9, 5 and 13 bytes for them', (program) => {
    const [allocs = 0, reallocs = 0, frees = 0] = SUMMARIES[program] ?? []
    const mean = (9 * allocs + 5 * frees + 13 * reallocs) / (allocs + frees + reallocs)
    expect(ENCODED[program]?.[2]?.split(' / ')[0]).toBe(mean.toFixed(2))
  })
})
