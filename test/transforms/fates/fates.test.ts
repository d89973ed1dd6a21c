import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { APIS } from '../../../lib/event/fields.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { parseMoment, type Moment } from '../../../lib/transforms/fates/moment.js'
import { FateSurvey, type FateOptions } from '../../../lib/transforms/fates/survey.js'
import { Filter, type FilterOptions } from '../../../lib/transforms/filter.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import type { Statistics } from '../../../lib/transforms/statistics/result.js'
import { blocksByMap } from '../../blocks/blocks.js'
import { drive } from '../../support/drive.js'
import { runs } from '../../support/runs.js'
import { eventsOf, HEADER, inBatches } from '../events.js'
import { keeps } from '../oracle.js'
import { tracesWithEnds } from '../statistics/random.js'

interface Trace {
  header: TraceHeader
  events: readonly TraceEvent[]
}

const batchesOf = (traces: readonly Trace[], size: number) =>
  traces.flatMap(({ header, events }) => [...inBatches(events, size, header)])

/** What two passes keep. */
function filtered(traces: readonly Trace[], options: FilterOptions, size = 7): TraceEvent[] {
  const survey = new FateSurvey(options)
  for (const batch of batchesOf(traces, size)) {
    if (survey.isDone) break
    survey.add(batch)
  }
  const { out, error } = drive(new Filter(options, survey.finish()), batchesOf(traces, size))
  expect(error).toBeUndefined()
  return eventsOf(out)
}

function statisticsOf(traces: readonly Trace[]): Statistics {
  const collector = new StatisticsCollector()
  for (const batch of batchesOf(traces, 4096)) collector.add(batch)
  return collector.finish()
}

/** The blocks that are live after each event of a trace, by the events that they began with, and how large they are. */
function levels(events: readonly TraceEvent[]): Map<number, bigint>[] {
  const live = new Map<number, bigint>()
  return blocksByMap(events).deeds.map(({ did, ended, overwritten, gone = [] }, e) => {
    if (ended !== undefined) live.delete(ended)
    for (const one of gone) live.delete(one)
    if (overwritten !== undefined) live.delete(overwritten)
    if (did.includes('began')) live.set(ended ?? e + 1, events[e]?.size ?? 0n)
    return new Map(live)
  })
}

/** The events that begin or resize blocks of a trace that are in some set, up to an event. */
function chains(events: readonly TraceEvent[], blocks: Iterable<number>, until: number): number[] {
  const wanted = new Set(blocks)
  return blocksByMap(events).deeds.flatMap(({ did, ended, left }, e) => {
    const block = did.includes('began') ? (ended ?? e + 1) : left
    return e < until && block !== undefined && wanted.has(block) ? [e] : []
  })
}

/** What is kept, written down as directly as can be. */
function expected(
  traces: readonly Trace[],
  { leaked, temporary, temporaryBy, liveAt, ...rest }: FilterOptions,
): TraceEvent[] {
  const all = traces.flatMap(({ events }) => events)
  let offset = 0
  const kept = traces.map(({ events }) => {
    const start = offset
    offset += events.length
    const at = levels(events)
    const sets: number[][] = []
    const gone = blocksByMap(events).deeds.map((deed) => deed.gone ?? [])
    if (leaked === true) sets.push(chains(events, [...gone.flat(), ...(at.at(-1)?.keys() ?? [])], events.length))
    const isEnd = (e: number) => leaked === true && rest.invert !== true && (gone[e]?.length ?? 0) > 0
    if (temporary === true) sets.push(temporaryBy === 'memray' ? memrays(events) : temporaries(events))
    if (liveAt !== undefined) {
      const moment = momentOf(traces, all, liveAt) - start
      const isHere = moment > 0 && moment <= events.length
      sets.push(isHere ? chains(events, at[moment - 1]?.keys() ?? [], moment) : [])
    }
    return events.filter(
      (event, e) =>
        (event.kind === 'lost' || isEnd(e) || sets.every((set) => set.includes(e))) &&
        keeps(event, start + e + 1, rest as FilterOptions),
    )
  })
  return kept.flat()
}

/** The event after which a moment is, by its number in the stream. */
function momentOf(traces: readonly Trace[], all: readonly TraceEvent[], moment: Moment): number {
  if (moment === 'peak') {
    const sums = traces.flatMap(({ events }) =>
      levels(events).map((live) => [...live.values()].reduce((sum, size) => sum + size, 0n)),
    )
    const most = sums.reduce((max, sum) => (sum > max ? sum : max), 0n)
    return most === 0n ? 0 : sums.indexOf(most) + 1
  }
  if ('event' in moment) return moment.event
  const later = all.findIndex(({ time }) => time !== undefined && time > moment.time)
  return later < 0 ? all.length : later
}

/** The allocations of a trace that the next call of their process frees. */
function temporaries(events: readonly TraceEvent[]): number[] {
  const last = new Map<bigint | undefined, number>()
  const allocatedBy = new Map<number, number>()
  const found: number[] = []
  blocksByMap(events).deeds.forEach(({ did, ended }, e) => {
    const { kind, process } = events[e]
    if (ended !== undefined && last.get(process) === allocatedBy.get(ended))
      found.push(allocatedBy.get(ended) as number)
    if (did.includes('ended') || did.includes('unknown')) last.delete(process)
    if (!did.includes('began')) return
    // A block that was there before is no call.
    if (kind !== 'existing') last.set(process, e)
    allocatedBy.set(ended ?? e + 1, e)
  })
  return found
}

/** The allocations that their thread frees, after at most one other. */
function memrays(events: readonly TraceEvent[]): number[] {
  const recent = new Map<string, number[]>()
  const allocated = new Map<number, { event: number; by: string }>()
  const found: number[] = []
  blocksByMap(events).deeds.forEach(({ did, ended }, e) => {
    const { kind, process, thread } = events[e] as TraceEvent
    const by = `${process} ${thread}`
    const last = ended === undefined ? undefined : allocated.get(ended)
    if (last?.by === by && recent.get(by)?.includes(last.event) === true) found.push(last.event)
    if (!did.includes('began')) return
    if (kind !== 'existing') recent.set(by, [e, ...(recent.get(by) ?? [])].slice(0, 2))
    allocated.set(ended ?? e + 1, { event: e, by })
  })
  return found
}

const KERNELS = new Set<string | undefined>(APIS.slice(APIS.indexOf('kmalloc')))

/** Of a program or of a kernel: `Lifetimes` does not expect the functions of both at one address of one process. */
function ofOne(events: readonly TraceEvent[]): TraceEvent[] {
  if (!events.some(({ api }) => KERNELS.has(api))) return [...events]
  return events.map((event) => (KERNELS.has(event.api) ? event : { ...event, api: 'kmem_cache_alloc' as const }))
}

/** Headers are compared by identity, and a trace without events has no batch to bring it. */
const someTraces = tracesWithEnds.map((traces) =>
  traces
    .filter(({ events }) => events.length > 0)
    .map(({ header, events }) => ({ header: { ...header }, events: ofOne(events) })),
)

describe('two passes', () => {
  const anyMoment = fc.oneof(
    fc.constant<Moment>('peak'),
    fc.nat({ max: 60 }).map((n): Moment => ({ event: n + 1 })),
    fc.bigInt({ min: 0n, max: 2n ** 33n }).map((time): Moment => ({ time })),
  )
  const anyFates: fc.Arbitrary<FateOptions> = fc.record(
    {
      leaked: fc.constant(true),
      temporary: fc.constant(true),
      temporaryBy: fc.constantFrom('heaptrack', 'memray'),
      liveAt: anyMoment,
    },
    { requiredKeys: [] },
  )

  test('keep what a plain look at all events finds', () => {
    fc.assert(
      fc.property(
        someTraces,
        anyFates,
        fc.boolean(),
        fc.integer({ min: 1, max: 50 }),
        (traces, fates, isAlloc, size) => {
          const all = traces.flatMap(({ events }) => events)
          const { liveAt } = fates
          fc.pre(typeof liveAt !== 'object' || !('event' in liveAt) || liveAt.event <= all.length)
          fc.pre(typeof liveAt !== 'object' || !('time' in liveAt) || all.some(({ time }) => time !== undefined))
          const options: FilterOptions = { ...fates, ...(isAlloc && { kind: ['alloc'] as const }) }
          expect(filtered(traces, options, size)).toEqual(expected(traces, options))
        },
      ),
      { numRuns: runs(400) },
    )
  })

  test('keep a trace that is live at the end with what was live at the peak, or leaked', () => {
    fc.assert(
      fc.property(someTraces, (traces) => {
        const { peakBytes, temporary } = statisticsOf(traces)
        const atPeak = statisticsOf([{ header: HEADER, events: filtered(traces, { liveAt: 'peak' }) }])
        expect(atPeak.leaked).toEqual({ blocks: peakBytes.blocks, bytes: peakBytes.bytes })
        const one = traces.slice(0, 1)
        if (one.length > 0) {
          const leaks = statisticsOf([{ header: HEADER, events: filtered(one, { leaked: true }) }])
          expect(leaks.leaked).toEqual(statisticsOf(one).leaked)
        }
        expect(filtered(traces, { temporary: true })).toHaveLength(temporary.heaptrack.blocks)
      }),
      { numRuns: runs(200) },
    )
  })

  test('keep the end of a process in which blocks leak, so that peaks and leaks are those of these blocks', () => {
    fc.assert(
      fc.property(someTraces, (traces) => {
        const whole = traces.slice(0, 1)
        const leaks = [{ header: HEADER, events: filtered(whole, { leaked: true }) }]
        expect(statisticsOf(leaks).peakBytes.bytes <= statisticsOf(whole).peakBytes.bytes).toBe(true)
        // As whole blocks, the same events are kept.
        expect(filtered(whole, { leaked: true, lifetimes: true }).length).toBe(leaks[0]?.events.length)
      }),
      { numRuns: runs(200) },
    )
    const block = (process: bigint, address: bigint): TraceEvent => ({ kind: 'alloc', process, address, size: 100n })
    const end = (process: bigint): TraceEvent => ({ kind: 'process-end', process })
    const free: TraceEvent = { kind: 'free', process: 2n, address: 1n }
    const several = [block(1n, 1n), end(1n), block(2n, 1n), free, end(2n), block(1n, 1n)]
    const kept = (options: FilterOptions) => filtered([{ header: HEADER, events: several }], options)
    const leaked = [several[0], several[1], several[5]]
    expect(kept({ leaked: true })).toEqual(leaked)
    expect(kept({ leaked: true, lifetimes: true })).toEqual(leaked)
    expect(kept({ leaked: true, process: 1 })).toEqual(leaked)
    expect(kept({ leaked: true, liveAt: { event: 1 } })).toEqual(several.slice(0, 2))
    expect(kept({ leaked: true, kind: 'alloc' })).toEqual([several[0], several[5]])
    expect(kept({ leaked: true, invert: true })).toEqual([several[1], several[2], several[3], several[4]])
    expect(kept({ liveAt: { event: 1 } })).toEqual([several[0]])
    expect(statisticsOf([{ header: HEADER, events: kept({ leaked: true }) }])).toMatchObject({
      peakBytes: { bytes: 100n },
      leaked: { bytes: 200n },
      faults: { overlaps: { blocks: 0 } },
    })
  })

  const events: TraceEvent[] = [
    { kind: 'alloc', address: 1n, size: 10n, time: 100n },
    { kind: 'alloc', address: 2n, size: 50n, time: 200n },
    { kind: 'realloc', oldAddress: 1n, address: 3n, size: 100n, time: 300n },
    { kind: 'free', address: 2n, time: 400n },
    { kind: 'realloc', oldAddress: 3n, address: 4n, size: 20n, time: 500n },
    { kind: 'alloc', address: 5n, size: 1n, time: 600n },
    { kind: 'free', address: 5n },
    { kind: 'free', address: 4n, time: 700n },
    { kind: 'alloc', address: 6n, size: 7n, time: 800n },
  ]
  const numbers = (options: FilterOptions) => filtered([{ header: HEADER, events }], options).map((e) => eventNumber(e))
  const eventNumber = (event: TraceEvent) =>
    1 + events.findIndex((one) => JSON.stringify(one.kind + one.address) === JSON.stringify(event.kind + event.address))

  test('follow the reallocs of a block until the moment, and its whole life if asked to', () => {
    expect(numbers({ liveAt: 'peak' })).toEqual([1, 2, 3])
    expect(numbers({ liveAt: 'peak', lifetimes: true })).toEqual([1, 2, 3, 4, 5, 8])
    expect(numbers({ liveAt: { event: 2 } })).toEqual([1, 2])
    expect(numbers({ liveAt: { event: 6 } })).toEqual([1, 3, 5, 6])
    expect(numbers({ liveAt: { time: 500n } })).toEqual([1, 3, 5])
    expect(numbers({ liveAt: { time: 99n } })).toEqual([])
    expect(numbers({ liveAt: { time: 9999n } })).toEqual([9])
    expect(numbers({ leaked: true })).toEqual([9])
    expect(numbers({ temporary: true })).toEqual([6])
    expect(numbers({ temporary: true, lifetimes: true })).toEqual([6, 7])
  })

  test('are combined with other criteria, and inverted together', () => {
    expect(numbers({ liveAt: 'peak', size: { from: 50n } })).toEqual([2, 3])
    expect(numbers({ liveAt: 'peak', kind: 'alloc' })).toEqual([1, 2])
    expect(numbers({ liveAt: { event: 6 }, temporary: true })).toEqual([6])
    expect(numbers({ leaked: true, temporary: true })).toEqual([])
    expect(numbers({ leaked: true, invert: true })).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  test('refuse a moment that there is not', () => {
    expect(() => numbers({ liveAt: { event: 10 } })).toThrow('there is no event 10: there are 9')
    const timeless = [{ header: HEADER, events: [{ kind: 'free', address: 1n } as const] }]
    expect(() => filtered(timeless, { liveAt: { time: 5n } })).toThrow('no event has a time')
    for (const moment of [{ event: 0 }, { event: 1.5 }, { time: -1n }, { time: 2n ** 64n }, {}, 'end'])
      expect(() => new FateSurvey({ liveAt: moment as Moment })).toThrow(RangeError)
    expect(() => new Filter({ leaked: true })).toThrow(/need two passes over the events: use filterFile\(\)/)
  })

  test('a moment is read as people write it', () => {
    expect([parseMoment('peak'), parseMoment('12'), parseMoment('time:18446744073709551615')]).toEqual([
      'peak',
      { event: 12 },
      { time: 2n ** 64n - 1n },
    ])
    for (const text of ['', 'end', '0', '1.5', '-1', 'time:', 'time:x', '0x10', `time:${2n ** 64n}`, '9'.repeat(17)])
      expect(() => parseMoment(text)).toThrow(RangeError)
  })
})
