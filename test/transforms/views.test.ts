import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EventTable } from '../../lib/cli/report/event-table.js'
import { MpatrolReport } from '../../lib/cli/report/mpatrol-report.js'
import type { EventBatch } from '../../lib/event/batch.js'
import type { TraceEvent } from '../../lib/event/trace-event.js'
import { BlockTable } from '../../lib/transforms/block-table/block-table.js'
import type { BlockRow } from '../../lib/transforms/block-table/columns.js'
import { CheckCollector } from '../../lib/transforms/check/measure.js'
import { FateSurvey, type Fate, type FateOptions } from '../../lib/transforms/fates/survey.js'
import { ProfileCollector } from '../../lib/transforms/profile/collector.js'
import { ReportCollector } from '../../lib/transforms/report/collector.js'
import { LiveLog } from '../../lib/transforms/report/live-log.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import { Verifier } from '../../lib/transforms/verify.js'
import { blocksByMap } from '../blocks/blocks.js'
import { drive } from '../support/drive.js'
import { runs } from '../support/runs.js'
import { inBatches } from './events.js'
import { expectWhole, sum } from './report/whole.js'
import { anyTraces } from './statistics/random.js'

/** What happened to the blocks of a trace. Every view of it has to say the same, as far as it says anything. */
interface Story {
  allocated: Amount
  freed: Amount
  overlaps: Amount
  /** Live at the end of the trace, or at that of their process. */
  leaked: Amount
  peak: Amount & { event: number }
  temporary: Record<'heaptrack' | 'memray', Amount>
  /** Frees by another thread than the one that allocated. */
  foreign: number
  /** The numbers of events about blocks from the birth of each block to its free. */
  lifetimes: { count: number; sum: number }
  unknownFrees: number
  doubleFrees: number
  /** Frees and reallocs of blocks that were freed before. */
  again: number
  unknownReallocs: number
  nullFrees: number
  /** Allocations and reallocs without a result. */
  failed: number
}
interface Amount {
  blocks: number
  bytes: bigint
}

interface Block {
  size: bigint
  /** The events at which it began, and was allocated or resized last. */
  birth: number
  since: number
  owner: string
  /** The number of its first event among those about blocks; undefined if it was there before. */
  born: number | undefined
}

/** The plain model: which blocks events are about by `blocksByMap`, and what follows from that. */
function storyOf(events: readonly TraceEvent[]): Story {
  const none = (): Amount => ({ blocks: 0, bytes: 0n })
  const story: Story = {
    allocated: none(),
    freed: none(),
    overlaps: none(),
    leaked: none(),
    peak: { event: 0, ...none() },
    temporary: { heaptrack: none(), memray: none() },
    foreign: 0,
    lifetimes: { count: 0, sum: 0 },
    unknownFrees: 0,
    doubleFrees: 0,
    again: 0,
    unknownReallocs: 0,
    nullFrees: 0,
    failed: 0,
  }
  const live = new Map<number, Block>()
  const calls = new Map<bigint | undefined, number>()
  const recent = new Map<string, number[]>()
  let blockEvents = 0
  const add = (to: Amount, { size }: { size: bigint }) => {
    to.blocks++
    to.bytes += size
  }
  const leak = (block: number) => {
    add(story.leaked, live.get(block) as Block)
    live.delete(block)
  }
  blocksByMap(events).deeds.forEach(({ did, ended, overwritten, gone }, e) => {
    const { kind, process, thread, size = 0n } = events[e] as TraceEvent
    const caller = thread === undefined && process === undefined ? 'none' : `${process} ${thread}`
    if (kind === 'process-end') calls.delete(process)
    for (const block of gone ?? []) leak(block)
    if (did.length === 0) return
    blockEvents++
    if (did.includes('unknown')) {
      if (did.includes('again')) story.again++
      if (kind === 'realloc') story.unknownReallocs++
      else if (did.includes('again')) story.doubleFrees++
      else story.unknownFrees++
    }
    if (did.includes('failed')) story.failed++
    if (did.includes('nothing') && kind === 'free') story.nullFrees++
    const old = ended === undefined ? undefined : live.get(ended)
    if (ended !== undefined && old !== undefined) {
      add(story.freed, old)
      if (old.owner !== caller) story.foreign++
      if (calls.get(process) === old.since) add(story.temporary.heaptrack, old)
      if (old.owner === caller && recent.get(caller)?.includes(old.since)) add(story.temporary.memray, old)
      if (!did.includes('began') && old.born !== undefined) {
        story.lifetimes.count++
        story.lifetimes.sum += blockEvents - old.born
      }
      live.delete(ended)
    }
    if (did.includes('unknown') || did.includes('ended')) calls.delete(process)
    if (!did.includes('began')) return
    if (overwritten !== undefined && overwritten !== ended) {
      const other = live.get(overwritten)
      if (other !== undefined) add(story.overlaps, other)
      live.delete(overwritten)
    }
    if (kind !== 'existing') {
      calls.set(process, e)
      recent.set(caller, [e, ...(recent.get(caller) ?? [])].slice(0, 2))
    }
    const birth = ended ?? e + 1
    const born = old === undefined ? (kind === 'existing' ? undefined : blockEvents) : old.born
    const block = { size, birth, since: e, owner: caller, born }
    live.set(birth, block)
    add(story.allocated, block)
    const level = [...live.values()].reduce((bytes, one) => bytes + one.size, 0n)
    if (level > story.peak.bytes) story.peak = { event: e + 1, blocks: live.size, bytes: level }
  })
  for (const block of live.keys()) leak(block)
  return story
}

/** Takes batches into a collector. */
function collect<Result>(
  collector: { add(batch: EventBatch): void; finish(): Result },
  batches: readonly EventBatch[],
) {
  for (const batch of batches) collector.add(batch)
  return collector.finish()
}

function total<Row>(rows: Iterable<Row>, of: (row: Row) => Amount): Amount {
  const all = { blocks: 0, bytes: 0n }
  for (const row of rows) {
    const { blocks, bytes } = of(row)
    all.blocks += blocks
    all.bytes += bytes
  }
  return all
}

/** Runs every view, and compares it with the model. */
function expectSame(events: readonly TraceEvent[], size = 4096): void {
  const batches = [...inBatches(events, size, { format: 'ndjson', timeUnit: 'ns' })]
  const story = storyOf(events)
  expectStatistics(batches, story)
  expectProfile(batches, story)
  expectBlocks(batches, story)
  expectFates(batches, story)
  expectReport(batches, story)
  expectFaults(batches, story)
  expectTexts(batches)
}

function expectStatistics(batches: readonly EventBatch[], story: Story): void {
  const { allocated, freed, leaked, peakBytes, temporary, threads, lifetimes, faults, reallocs } = collect(
    new StatisticsCollector(),
    batches,
  )
  expect({
    allocated,
    freed,
    overlaps: faults.overlaps,
    leaked,
    peak: { event: peakBytes.bytes === 0n ? 0 : peakBytes.event, blocks: peakBytes.blocks, bytes: peakBytes.bytes },
    temporary,
    foreign: threads.reduce((n, { foreignFrees }) => n + foreignFrees, 0),
    lifetimes: { count: lifetimes.events.count, sum: Number(lifetimes.events.sum) },
    unknownFrees: faults.unknownFrees,
    doubleFrees: faults.doubleFrees,
    again: story.again,
    unknownReallocs: reallocs.unknown,
    nullFrees: faults.nullFrees,
    failed: faults.failedAllocations + reallocs.failed,
  }).toEqual({ ...story, peak: peakOf(story) })
}

/** Without a byte there is no peak. */
const peakOf = ({ peak }: Story) => (peak.bytes === 0n ? { event: 0, blocks: 0, bytes: 0n } : peak)

function expectProfile(batches: readonly EventBatch[], story: Story): void {
  const samples = [...collect(new ProfileCollector({ at: 'peak' }), batches).samples()]
  expect({
    allocated: total(samples, (one) => one.allocated),
    leaked: total(samples, (one) => one.leaked),
    peak: total(samples, (one) => one.live),
    heaptrack: total(samples, (one) => one.temporary.heaptrack),
    memray: total(samples, (one) => one.temporary.memray),
    foreign: samples.reduce((n, { foreignFrees }) => n + foreignFrees, 0),
  }).toEqual({
    allocated: story.allocated,
    leaked: story.leaked,
    peak: { blocks: peakOf(story).blocks, bytes: peakOf(story).bytes },
    ...story.temporary,
    foreign: story.foreign,
  })
  const { whole } = collect(new CheckCollector([], 'trace'), batches)
  expect(whole).toMatchObject({
    peak: { value: peakOf(story).bytes },
    allocated: { value: story.allocated.bytes },
    allocations: { value: BigInt(story.allocated.blocks) },
    leaked: { value: story.leaked.bytes },
    'leaked-blocks': { value: BigInt(story.leaked.blocks) },
    temporary: { value: BigInt(story.temporary.heaptrack.blocks) },
    'double-frees': { value: BigInt(story.doubleFrees) },
    'unknown-frees': { value: BigInt(story.unknownFrees) },
    overlaps: { value: BigInt(story.overlaps.blocks) },
  })
}

function expectBlocks(batches: readonly EventBatch[], story: Story): void {
  const table = new BlockTable({ spans: true })
  const rows: BlockRow[] = []
  const take = () => {
    for (let part = table.next(); part !== null; part = table.next())
      for (let i = 0; i < part.count; i++) rows.push(part.row(i))
  }
  for (const batch of batches) {
    table.feed(batch)
    take()
  }
  table.end()
  take()
  const amount = (is: (row: BlockRow) => boolean, of = ({ size }: BlockRow) => size ?? 0n) =>
    total(rows.filter(is), (row) => ({ blocks: 1, bytes: of(row) }))
  const lifetimes = rows.flatMap(({ lifetimeEvents }) => (lifetimeEvents === undefined ? [] : [Number(lifetimeEvents)]))
  const calls = ({ ending }: BlockRow) => ending !== 'live' && ending !== 'overlap'
  expect({
    allocated: amount(() => true),
    freed: amount(calls),
    overlaps: amount(({ ending }) => ending === 'overlap'),
    leaked: amount(({ ending }) => ending === 'live'),
    heaptrack: amount(({ temporary }) => temporary === 1),
    memray: amount(({ temporaryMemray }) => temporaryMemray === 1),
    peak: amount(
      ({ peakEvent }) => Number(peakEvent) === story.peak.event && story.peak.bytes > 0n,
      ({ peakSize }) => peakSize ?? 0n,
    ),
    lifetimes: { count: lifetimes.length, sum: lifetimes.reduce((all, one) => all + one, 0) },
  }).toEqual({
    allocated: story.allocated,
    freed: story.freed,
    overlaps: story.overlaps,
    leaked: story.leaked,
    ...story.temporary,
    peak: { blocks: peakOf(story).blocks, bytes: peakOf(story).bytes },
    lifetimes: story.lifetimes,
  })
}

function expectFates(batches: readonly EventBatch[], story: Story): void {
  const found = (options: FateOptions) =>
    (collect(new FateSurvey(options), batches) as Fate[]).map(({ events }) => {
      const marks = new Uint32Array(10_000)
      events.mark(marks, 0, marks.length)
      return marks.reduce((all, mark) => all + mark, 0)
    })
  const { heaptrack, memray } = story.temporary
  expect(found({ leaked: true, temporary: true, liveAt: 'peak' })).toEqual([
    story.leaked.blocks,
    heaptrack.blocks,
    peakOf(story).blocks,
  ])
  expect(found({ leaked: true, temporary: true, temporaryBy: 'memray' })).toEqual([story.leaked.blocks, memray.blocks])
}

function expectReport(batches: readonly EventBatch[], story: Story): void {
  const data = collect(new ReportCollector(), batches).data()
  expectWhole(data)
  const { summary, problems, threads, sites } = data
  expect({
    leaked: [summary.leaked.blocks, BigInt(summary.leaked.bytes)],
    memray: sum(sites.memrayBlocks),
    foreign: sum(threads.foreignFrees),
    counts: problems.counts,
    // Of at most 1000.
    listed: problems.kind.filter((kind) => kind !== 'zeroSize').length,
  }).toMatchObject({
    leaked: [story.leaked.blocks, story.leaked.bytes],
    memray: BigInt(story.temporary.memray.blocks),
    foreign: BigInt(story.foreign),
    counts: {
      unknownFree: story.unknownFrees,
      doubleFree: story.doubleFrees,
      overlap: story.overlaps.blocks,
      failedAllocation: story.failed,
      unknownRealloc: story.unknownReallocs,
    },
    listed: story.unknownFrees + story.doubleFrees + story.overlaps.blocks + story.failed + story.unknownReallocs,
  })
  const log = new LiveLog()
  for (const batch of batches) log.add(batch)
  const { liveBlocks, liveBytes } = log.at({ event: story.peak.event })
  // The page's figures of a moment are of 53 bits.
  if (story.peak.bytes > 0n && story.allocated.bytes < 2n ** 53n)
    expect([sum(liveBlocks), sum(liveBytes)]).toEqual([BigInt(story.peak.blocks), story.peak.bytes])
}

function expectFaults(batches: readonly EventBatch[], story: Story): void {
  const verifier = new Verifier()
  for (const batch of batches) verifier.check(batch)
  const { counts } = verifier
  expect({ again: counts.get('double-free') ?? 0, unknown: counts.get('unknown-free') ?? 0 }).toEqual({
    again: story.again,
    unknown: story.unknownFrees + story.doubleFrees + story.unknownReallocs - story.again,
  })
  expect(counts.get('live-address') ?? 0).toBeGreaterThanOrEqual(story.overlaps.blocks)
}

/** What mpatrol's programs print, alone and after their table. */
function expectTexts(batches: readonly EventBatch[]): void {
  const text = (chunks: readonly Uint8Array[]) => new TextDecoder().decode(Buffer.concat(chunks))
  const report = text(drive(new MpatrolReport(), batches).out)
  expect(text(drive(new EventTable(), batches).out).endsWith(`\n${report}`)).toBe(true)
}

const alloc = (address: bigint, size: bigint, more: object = {}): TraceEvent => ({
  kind: 'alloc',
  address,
  size,
  ...more,
})
const free = (address: bigint, more: object = {}): TraceEvent => ({ kind: 'free', address, ...more })
const realloc = (oldAddress: bigint, address: bigint, size: bigint, more: object = {}): TraceEvent => ({
  kind: 'realloc',
  oldAddress,
  address,
  size,
  ...more,
})

/** A question, a trace that asks it, and a part of the answer. */
const QUESTIONS: readonly [question: string, events: TraceEvent[], answer: Partial<Story>][] = [
  [
    'is a realloc of an unknown block a birth?',
    [realloc(0x1000n, 0x2000n, 10n), free(0x2000n)],
    { unknownReallocs: 1, freed: { blocks: 1, bytes: 10n }, lifetimes: { count: 1, sum: 1 } },
  ],
  [
    'does a realloc that failed end the block?',
    [alloc(0x1000n, 8n), realloc(0x1000n, 0n, 99n), free(0x1000n)],
    { failed: 1, freed: { blocks: 1, bytes: 8n }, leaked: { blocks: 0, bytes: 0n } },
  ],
  [
    'does a realloc to no bytes end the block?',
    [alloc(0x1000n, 8n), realloc(0x1000n, 0n, 0n), free(0x1000n)],
    { freed: { blocks: 1, bytes: 8n }, doubleFrees: 1, temporary: both({ blocks: 1, bytes: 8n }) },
  ],
  [
    'is a realloc a call between an allocation and its free?',
    [alloc(0x1000n, 8n), realloc(0x1000n, 0x2000n, 9n), free(0x2000n)],
    { temporary: both({ blocks: 2, bytes: 17n }), lifetimes: { count: 1, sum: 2 } },
  ],
  [
    'do calls without effect come between?',
    [alloc(0x1000n, 8n), free(0n), realloc(0x5000n, 0n, 4n), alloc(0n, 5n), free(0x1000n)],
    { temporary: both({ blocks: 1, bytes: 8n }), nullFrees: 1, failed: 2 },
  ],
  [
    'does a free of an unknown block come between?',
    [alloc(0x1000n, 8n), free(0x9000n), free(0x1000n)],
    { temporary: { heaptrack: { blocks: 0, bytes: 0n }, memray: { blocks: 1, bytes: 8n } }, unknownFrees: 1 },
  ],
  [
    'does a call of another thread come between?',
    [alloc(0x1000n, 8n, { thread: 1n }), alloc(0x2000n, 1n, { thread: 2n }), free(0x1000n, { thread: 1n })],
    { temporary: { heaptrack: { blocks: 0, bytes: 0n }, memray: { blocks: 1, bytes: 8n } } },
  ],
  [
    'does a call of another process come between?',
    [
      alloc(0x1000n, 8n, { process: 1n, thread: 1n }),
      alloc(0x1000n, 1n, { process: 2n, thread: 1n }),
      free(0x1000n, { process: 1n, thread: 1n }),
    ],
    { temporary: both({ blocks: 1, bytes: 8n }) },
  ],
  [
    'is a block temporary that another thread frees?',
    [alloc(0x1000n, 8n, { thread: 1n }), free(0x1000n, { thread: 2n })],
    { foreign: 1, temporary: { heaptrack: { blocks: 1, bytes: 8n }, memray: { blocks: 0, bytes: 0n } } },
  ],
  [
    'who owns a block that another thread resized?',
    [alloc(0x1000n, 8n, { thread: 1n }), realloc(0x1000n, 0x1000n, 9n, { thread: 2n }), free(0x1000n, { thread: 2n })],
    { foreign: 1, temporary: { heaptrack: { blocks: 2, bytes: 17n }, memray: { blocks: 1, bytes: 9n } } },
  ],
  [
    'is the end of a process that of its blocks?',
    [
      alloc(0x1000n, 8n, { process: 1n }),
      alloc(0x1000n, 7n, { process: 2n }),
      { kind: 'process-end', process: 1n },
      free(0x1000n, { process: 1n }),
      free(0x1000n, { process: 2n }),
    ],
    { leaked: { blocks: 1, bytes: 8n }, freed: { blocks: 1, bytes: 7n }, unknownFrees: 1 },
  ],
  [
    'is the first call of a process with the number of one that ended between?',
    [
      { kind: 'existing', process: 1n, address: 0x3000n, size: 3n },
      alloc(0x1000n, 8n, { process: 1n }),
      { kind: 'process-end', process: 1n },
      { kind: 'existing', process: 1n, address: 0x1000n, size: 8n },
      free(0x1000n, { process: 1n }),
    ],
    { leaked: { blocks: 2, bytes: 11n }, temporary: both({ blocks: 0, bytes: 0n }), lifetimes: { count: 0, sum: 0 } },
  ],
  [
    'does a block end where another one begins?',
    [alloc(0x1000n, 8n), alloc(0x1000n, 9n), free(0x1000n)],
    {
      overlaps: { blocks: 1, bytes: 8n },
      freed: { blocks: 1, bytes: 9n },
      temporary: both({ blocks: 1, bytes: 9n }),
      peak: { event: 2, blocks: 1, bytes: 9n },
    },
  ],
  [
    'does a realloc end a block where it moves to?',
    [alloc(0x1000n, 8n), alloc(0x2000n, 9n), realloc(0x1000n, 0x2000n, 10n)],
    { overlaps: { blocks: 1, bytes: 9n }, freed: { blocks: 1, bytes: 8n }, leaked: { blocks: 1, bytes: 10n } },
  ],
  [
    'does a block that was there before count, and when is it temporary?',
    [{ kind: 'existing', address: 0x1000n, size: 8n }, free(0x1000n), { kind: 'existing', address: 0x2000n }],
    {
      allocated: { blocks: 2, bytes: 8n },
      freed: { blocks: 1, bytes: 8n },
      lifetimes: { count: 0, sum: 0 },
      temporary: both({ blocks: 0, bytes: 0n }),
    },
  ],
  [
    'is a block freed twice after its key was used again?',
    [alloc(0x1000n, 8n), free(0x1000n), alloc(0x1000n, 9n), free(0x1000n), free(0x1000n), realloc(0x1000n, 0n, 0n)],
    { doubleFrees: 1, again: 2, unknownReallocs: 1, unknownFrees: 0 },
  ],
  [
    'is a block with an index one with that address?',
    [
      { kind: 'alloc', index: 1n, address: 0x1000n, size: 8n },
      alloc(1n, 4n),
      { kind: 'free', index: 1n },
      free(0x1000n),
      free(1n),
    ],
    { freed: { blocks: 2, bytes: 12n }, unknownFrees: 1, doubleFrees: 0 },
  ],
  [
    'is the peak the first event with most bytes?',
    [alloc(0x1000n, 8n), free(0x1000n), alloc(0x2000n, 8n), alloc(0x3000n, 0n)],
    { peak: { event: 1, blocks: 1, bytes: 8n } },
  ],
]

function both(amount: Amount): Story['temporary'] {
  return { heaptrack: amount, memray: amount }
}

describe('all views of a trace agree', () => {
  test.each(QUESTIONS)('%s', (_, events, answer) => {
    expect(storyOf(events)).toMatchObject(answer)
    expectSame(events)
  })

  test('for random traces', () => {
    const anyTrace = fc
      .tuple(anyTraces, fc.array(fc.tuple(fc.nat(), fc.constantFrom(1n, 2n, undefined)), { maxLength: 4 }))
      .map(([traces, ends]) => {
        const events = traces.flatMap(({ events: own }) => own)
        for (const [at, process] of ends)
          events.splice(at % (events.length + 1), 0, {
            kind: 'process-end',
            ...(process !== undefined && { process }),
          })
        return events
      })
    fc.assert(
      fc.property(anyTrace, fc.integer({ min: 1, max: 60 }), (events, size) => {
        fc.pre(events.length > 0)
        expectSame(events, size)
      }),
      { numRuns: runs(300) },
    )
  })
})
