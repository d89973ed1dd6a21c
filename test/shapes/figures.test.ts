import { describe, expect, it } from 'vitest'
import type { EventBatch } from '../../lib/event/batch.js'
import type { WritableFormat } from '../../lib/event/format.js'
import { BlockTable } from '../../lib/transforms/block-table/block-table.js'
import type { BlockRow } from '../../lib/transforms/block-table/columns.js'
import { CheckCollector } from '../../lib/transforms/check/measure.js'
import { FateSurvey, type Fate } from '../../lib/transforms/fates/survey.js'
import { Filter, type FilterOptions } from '../../lib/transforms/filter.js'
import { ProfileCollector } from '../../lib/transforms/profile/collector.js'
import { compareProfiles } from '../../lib/transforms/profile/difference.js'
import { Repair } from '../../lib/transforms/repair/repair.js'
import { ReportCollector } from '../../lib/transforms/report/collector.js'
import { LiveLog } from '../../lib/transforms/report/live-log.js'
import { plain } from '../../lib/transforms/report/plain.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import type { Statistics } from '../../lib/transforms/statistics/result.js'
import { Verifier } from '../../lib/transforms/verify.js'
import { blockRows } from '../support/block-rows.js'
import { drive } from '../support/drive.js'
import { formatNamed } from '../support/formats.js'
import { isWhole } from '../support/runs.js'
import { expectWhole } from '../transforms/report/whole.js'
import { eventsOf } from './generate.js'
import { shapesOf, type Shape } from './shape.js'

/** How many numbers of blocks there are from 20 on, each 1.45 times the last one. The 22nd, 49,000, takes a minute. */
const SIZES = Number(process.env['HEAPFLOW_FIGURE_SIZES'] ?? (isWhole() ? 18 : 14))

/** Formats that carry all of an event. */
const FORMATS: readonly [string, object][] = [
  ['ndjson', {}],
  ['arrow', {}],
  ['compact', {}],
  ['compact', { level: 1 }],
]

/** Takes batches into a collector. */
function collect<Result>(collector: { add(batch: EventBatch): void; finish(): Result }, batches: Iterable<EventBatch>) {
  for (const batch of batches) collector.add(batch)
  return collector.finish()
}

const statisticsOf = (batches: Iterable<EventBatch>) => collect(new StatisticsCollector(), batches)
const amount = ({ blocks, bytes }: { blocks: number; bytes: bigint }) => ({ blocks, bytes })

/** The sum of a figure over rows. */
function sumOf<Row>(rows: Iterable<Row>, of: (row: Row) => { blocks: number; bytes: bigint }) {
  const sum = { blocks: 0, bytes: 0n }
  for (const row of rows) {
    const { blocks, bytes } = of(row)
    sum.blocks += blocks
    sum.bytes += bytes
  }
  return sum
}

function expectProfile(batches: readonly EventBatch[], statistics: Statistics): void {
  const profile = collect(new ProfileCollector(), batches)
  const samples = [...profile.samples()]
  expect(sumOf(samples, (sample) => sample.allocated)).toEqual(statistics.allocated)
  expect(sumOf(samples, (sample) => sample.atPeak)).toEqual(amount(statistics.peakBytes))
  expect(sumOf(samples, (sample) => sample.live)).toEqual(statistics.leaked)
  expect(sumOf(samples, (sample) => sample.temporary.heaptrack)).toEqual(statistics.temporary.heaptrack)
  const atPeak = collect(new ProfileCollector({ at: 'peak' }), batches)
  expect(sumOf(atPeak.samples(), (sample) => sample.live)).toEqual(amount(statistics.peakBytes))
  const { stacks } = compareProfiles(profile, collect(new ProfileCollector(), batches))
  for (const { old, new: next } of stacks) expect(next).toEqual(old)
  const none = new ProfileCollector().finish()
  for (const [old, next] of [
    [none, profile],
    [profile, none],
  ] as const) {
    const difference = compareProfiles(old, next)
    for (const [side, one] of [
      ['old', old],
      ['new', next],
    ] as const) {
      const rows = [...difference.stacks].map((stack) => stack[side])
      expect(sumOf(rows, (row) => row.allocated)).toEqual(one === none ? nothing : statistics.allocated)
      expect(sumOf(rows, (row) => row.leaked)).toEqual(one === none ? nothing : statistics.leaked)
    }
  }
}

const nothing = { blocks: 0, bytes: 0n }

/** The figures of budgets, which are none for a trace without events. */
function expectCheck(batches: readonly EventBatch[], statistics: Statistics): void {
  const { whole } = collect(new CheckCollector([], 'shape'), batches)
  const { allocated, leaked, peakBytes, peakBlocks, temporary, faults, reallocs } = statistics
  const expected = {
    peak: peakBytes.bytes,
    blocks: BigInt(peakBlocks.blocks),
    allocated: allocated.bytes,
    allocations: BigInt(allocated.blocks),
    leaked: leaked.bytes,
    'leaked-blocks': BigInt(leaked.blocks),
    temporary: BigInt(temporary.heaptrack.blocks),
    'double-frees': BigInt(faults.doubleFrees),
    'unknown-frees': BigInt(faults.unknownFrees),
    overlaps: BigInt(faults.overlaps.blocks),
    'failed-allocations': BigInt(faults.failedAllocations + reallocs.failed),
  }
  for (const [name, value] of Object.entries(expected)) {
    const measure = whole[name as keyof typeof expected]
    if (statistics.events === 0)
      expect({ name, measure }).toMatchObject({ name, measure: { unknown: expect.any(String) } })
    else expect({ name, measure }).toMatchObject({ name, measure: { value } })
  }
}

function expectReport(batches: readonly EventBatch[], statistics: Statistics): void {
  const data = collect(new ReportCollector(), batches).data()
  expectWhole(data)
  const { allocated, freed, leaked, peakBytes, peakBlocks, temporary } = statistics
  const expected = plain({ allocated, freed, leaked, peakBytes, peakBlocks, temporary })
  expect(data.summary).toMatchObject(expected as object)
  // The sum that the page's card of frees by others shows.
  const { sites } = statistics
  expect(data.threads.foreignFrees.reduce((sum, n) => sum + n, 0)).toBe(
    sites.reduce((sum, site) => sum + site.foreignFrees, 0),
  )
}

function expectBlocks(batches: readonly EventBatch[], statistics: Statistics): void {
  const rows = blockRows(batches, new BlockTable({ spans: true }))
  const sum = (some: readonly BlockRow[]) => sumOf(some, ({ size = 0n }) => ({ blocks: 1, bytes: size }))
  expect(sum(rows)).toEqual(statistics.allocated)
  const sumOfEnding = (is: (ending: string) => boolean) => sum(rows.filter(({ ending }) => is(ending)))
  expect(sumOfEnding((ending) => ending === 'live')).toEqual(statistics.leaked)
  expect(sumOfEnding((ending) => ending === 'overlap')).toEqual(statistics.faults.overlaps)
  expect(sumOfEnding((ending) => ending !== 'live' && ending !== 'overlap')).toEqual(statistics.freed)
}

/** Blocks that leaked, and those live at the peak and at other moments, are the same in all ways to find them. */
function expectMoments(batches: readonly EventBatch[], statistics: Statistics): void {
  const { events, leaked, peakBytes, timeline } = statistics
  if (events === 0 || events > 20_000) return
  const marked = ({ events: found }: Fate) => {
    const marks = new Uint32Array(events + 1)
    found.mark(marks, 0, events + 1)
    return marks.reduce((sum, mark) => sum + mark, 0)
  }
  const [never, atPeak] = collect(new FateSurvey({ leaked: true, liveAt: 'peak' }), batches) as [Fate, Fate]
  expect([marked(never), marked(atPeak)]).toEqual([leaked.blocks, peakBytes.blocks])
  const log = new LiveLog()
  for (const batch of batches) log.add(batch)
  const rows = blockRows(batches, new BlockTable({ spans: true }))
  for (const { event, live } of timeline.filter((_, i) => i % Math.ceil(timeline.length / 5) === 0)) {
    const at = log.at({ event })
    expect(at.liveBlocks.reduce((sum, n) => sum + n, 0)).toBe(live.blocks)
    const [fate] = collect(new FateSurvey({ liveAt: { event } }), batches) as [Fate]
    expect(marked(fate)).toBe(live.blocks)
    // Whether a block without an end outlives the event, its trace says.
    if (new Set(batches.map(({ header }) => header)).size > 1) continue
    const there = rows.filter(({ since, until }) => since <= event && (until === undefined || until > event))
    expect(sumOf(there, ({ size = 0n }) => ({ blocks: 1, bytes: size }))).toEqual(live)
  }
}

/** What a filter keeps and what its inverse keeps are all events. */
function expectFilter(batches: readonly EventBatch[], options: FilterOptions): void {
  const count = (invert: boolean) =>
    drive(new Filter({ ...options, invert }), batches).out.reduce((sum, batch) => sum + batch.count, 0)
  expect(count(false) + count(true)).toBe(batches.reduce((sum, batch) => sum + batch.count, 0))
}

/** Whether blocks are so far apart that they do not overlap. */
const areApart = ({ sizes, gap, reallocs, faulty }: Shape) =>
  !faulty && (sizes === 'small' || sizes === 'zero') && gap >= 64n && !['grow', 'fail'].includes(reallocs)

function expectEqualFigures(shape: Shape): void {
  const batches = [...eventsOf(shape)]
  const statistics = statisticsOf(batches)
  expectProfile(batches, statistics)
  expectReport(batches, statistics)
  expectCheck(batches, statistics)
  expectBlocks(batches, statistics)
  expectMoments(batches, statistics)
  expectFilter(batches, { thread: 1n })
  expectFilter(batches, { size: { from: 10n, to: 100_000n } })
  expectFilter(batches, { kind: 'free' })

  for (const [name, options] of FORMATS) {
    const format = formatNamed(name) as WritableFormat
    const bytes = drive(format.encoder(options), batches)
    expect(bytes.error).toBeUndefined()
    const back = drive(format.decoder(), bytes.out)
    expect(back.error).toBeUndefined()
    const { formats: _formats, ...figures } = statisticsOf(back.out)
    const { formats: _others, ...expected } = statistics
    expect(figures).toEqual(expected)
  }

  const verifier = new Verifier()
  const repaired = drive(new Repair(), batches).out
  for (const batch of repaired) verifier.check(batch)
  expect([...verifier.counts]).toEqual([])
  if (areApart(shape) && shape.sizes !== 'zero')
    expect(amount(statisticsOf(repaired).allocated)).toEqual(statistics.allocated)
}

describe('a figure is the same wherever it is shown, for shapes of programs', () => {
  it.each(shapesOf([0, 1, 12, 150], 7))('$blocks blocks, freed: $deaths, reallocs: $reallocs', expectEqualFigures)

  describe('for many', { tags: ['slow'] }, () => {
    const numbers = Array.from({ length: SIZES }, (_, i) => Math.round(20 * 1.45 ** i))
    it.each(shapesOf(numbers, 8))('$blocks blocks, freed: $deaths, reallocs: $reallocs', expectEqualFigures)
  })
})
