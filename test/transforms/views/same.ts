import { expect } from 'vitest'
import { EventTable } from '../../../lib/cli/report/event-table.js'
import { MpatrolReport } from '../../../lib/cli/report/mpatrol-report.js'
import type { EventBatch } from '../../../lib/event/batch.js'
import type { TraceEvent } from '../../../lib/event/trace-event.js'
import { BlockTable } from '../../../lib/transforms/block-table/block-table.js'
import type { BlockRow } from '../../../lib/transforms/block-table/columns.js'
import { CheckCollector } from '../../../lib/transforms/check/measure.js'
import { FateSurvey, type Fate, type FateOptions } from '../../../lib/transforms/fates/survey.js'
import { ProfileCollector } from '../../../lib/transforms/profile/collector.js'
import { ReportCollector } from '../../../lib/transforms/report/collector.js'
import { LiveLog } from '../../../lib/transforms/report/live-log.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { Verifier } from '../../../lib/transforms/verify.js'
import { blockRows } from '../../support/block-rows.js'
import { drive } from '../../support/drive.js'
import { inBatches } from '../events.js'
import { expectWhole, sum } from '../report/whole.js'
import { storyOf, type Amount, type Story } from './story.js'

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
export function expectSame(events: readonly TraceEvent[], size = 4096): void {
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
  const rows = blockRows(batches, new BlockTable({ spans: true }))
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
