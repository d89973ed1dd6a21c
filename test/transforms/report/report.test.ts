import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { compareProfiles } from '../../../lib/transforms/profile/difference.js'
import { ReportCollector } from '../../../lib/transforms/report/collector.js'
import { plain } from '../../../lib/transforms/report/plain.js'
import { REPORT_LIMITS, type Report, type ReportLimits } from '../../../lib/transforms/report/report.js'
import { HEAT_SIDE, TREE_METRICS, type ReportData } from '../../../lib/transforms/report/result.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { comparedRows } from '../../support/compared.js'
import { runs } from '../../support/runs.js'
import { HEADER, inBatches } from '../events.js'
import { statisticsOf } from '../statistics/oracle.js'
import { anyTraces } from '../statistics/random.js'
import { factsOf } from './oracle.js'
import { expectWhole, pairs, sum } from './whole.js'

type Trace = { header: TraceHeader; events: readonly TraceEvent[] }

function reportOf(traces: readonly Trace[], batchSize = 4096): Report {
  const collector = new ReportCollector()
  for (const { header, events } of traces)
    for (const batch of inBatches(events, batchSize, header)) collector.add(batch)
  return collector.finish()
}

const dataOf = (events: readonly TraceEvent[], limits?: ReportLimits): ReportData =>
  reportOf([{ header: HEADER, events }]).data(limits ? { limits } : {})

/** Traces whose blocks do not all begin at the beginning of a page. */
const somewhere: Record<string, bigint> = { '4096': 0x1f90n, '8192': 0x2008n, '12288': 0x3000n }
const some = (traces: readonly Trace[]): Trace[] =>
  traces
    .filter(({ events }) => events.length > 0)
    .map(({ header, events }) => ({
      header: { ...header },
      events: events.map((event) => ({
        ...event,
        ...(event.address !== undefined && { address: somewhere[`${event.address}`] ?? event.address }),
        ...(event.oldAddress !== undefined && { oldAddress: somewhere[`${event.oldAddress}`] ?? event.oldAddress }),
      })) as TraceEvent[],
    }))

const byCell = (cells: readonly number[]) =>
  Object.fromEntries(pairs(cells).map(([cell, n]) => [`${Math.floor(cell / HEAT_SIDE)} ${cell % HEAT_SIDE}`, n]))

test('mean lifetimes are in time only if all traces with blocks have times', () => {
  const block = { address: 0x1000n, size: 100n, function: 'f' }
  const timed: Trace = {
    header: { format: 'ndjson', timeUnit: 'us' },
    events: [
      { kind: 'alloc', ...block, time: 0n },
      { kind: 'free', address: 0x1000n, time: 200_000n },
    ],
  }
  const timeless: Trace = {
    header: { format: 'ndjson' },
    events: [
      { kind: 'alloc', ...block },
      { kind: 'free', address: 0x1000n },
    ],
  }
  expect(reportOf([timed]).data().sites).toMatchObject({ meanTime: [200_000], meanEvents: [1] })
  const { sites } = reportOf([timed, timeless]).data()
  expect([sites.meanTime, sites.meanEvents]).toEqual([undefined, [1]])
})

describe('ReportCollector', () => {
  it('has the figures of the statistics, and of plain arithmetic', () => {
    fc.assert(
      fc.property(anyTraces, fc.integer({ min: 1, max: 50 }), (all, batchSize) => {
        const traces = some(all)
        const data = reportOf(traces, batchSize).data()
        const { sites: _sites, threads, processes, cpus, timeline, sizes, ...expected } = statisticsOf(traces)
        const { exact: _exact, ...sizeFigures } = sizes
        const { mismatches, ...summary } = data.summary
        expect(summary).toEqual(
          expect.objectContaining(plain({ ...expected, mismatches: undefined, sizes: sizeFigures })),
        )
        expect(mismatches).toHaveLength(expected.mismatches.length)
        expect(data.summary).toMatchObject({
          threadCount: threads.filter(
            ({ thread, rest, allocated, frees }) =>
              thread !== undefined || rest === 'others' || allocated.blocks + frees > 0,
          ).length,
          processCount: processes.length,
          cpuCount: cpus.length,
        })
        expect(data.timeline.liveBytes).toEqual(timeline.map(({ live }) => plain(live.bytes)))
        expectWhole(data)

        const facts = factsOf(traces)
        expect(byCell(data.churn.heat)).toEqual(facts.heat)
        const { grown, shrunk, same, moved, grownBytes, shrunkBytes } = data.churn
        expect({ grown, shrunk, same, moved, grownBytes, shrunkBytes }).toEqual(plain(facts.resizes))
        const { from, count } = data.churn.chains
        expect(Object.fromEntries(from.map((n, i) => [n, count[i]]))).toEqual(
          Object.fromEntries(Object.entries(facts.chains).map(([n, blocks]) => [Number(n), blocks])),
        )
        const names = data.threads.process.map((process, i) =>
          data.threads.name[i] === '[no thread]'
            ? 'none'
            : [process, data.threads.thread[i]!]
                .map((n) => (n === null ? '' : BigInt.asUintN(64, BigInt(n))))
                .join(' '),
        )
        const { matrix } = data.threads
        expect(
          Object.fromEntries(
            matrix.from.map((row, i) => [
              `${names[row]} > ${names[matrix.to[i]!]}`,
              { blocks: matrix.blocks[i], bytes: matrix.bytes[i] },
            ]),
          ),
        ).toEqual(plain(facts.matrix))
        expect(data.problems.counts.zeroSize).toBe(facts.zeroSizes)
        const { problems } = data
        expect(problems.kind.map((kind, i) => ({ kind, event: problems.event[i] }))).toEqual(facts.problems)
        const slice = (event: number) => data.generations.event.findIndex((last) => event <= last)
        const generations = data.generations.event.map(() => 0n)
        for (const { event, size } of facts.ends) generations[slice(event)]! += size
        expect(data.generations.endBytes).toEqual(generations.map((bytes) => plain(bytes)))
        const { addresses } = data
        if (addresses === undefined) return
        expect(addresses.pages.atPeak).toEqual(facts.pagesAtPeak)
        expect(addresses.pages.atEnd).toEqual(facts.pagesAtEnd)
        expect(addresses.mostPages).toBe(facts.mostPages)
        expect(addresses.use.liveBytes).toEqual(addresses.use.event.map((event) => plain(facts.levels[event - 1])))
        expect(addresses.sparse.pages.reduce((all, n) => all + n, 0)).toBeCloseTo(facts.sparse.pages, 6)
        expect(sum(addresses.sparse.bytes) - BigInt(facts.sparse.bytes)).toBeLessThan(100n)
      }),
      { numRuns: runs(200) },
    )
  })

  const alloc = (address: number, size: number, more: object = {}): TraceEvent => ({
    kind: 'alloc',
    address: BigInt(address),
    size: BigInt(size),
    ...more,
  })
  const free = (address: number, more: object = {}): TraceEvent => ({ kind: 'free', address: BigInt(address), ...more })

  /** A long trace: a leak in each round, and a block that lives for some rounds. */
  function* rounds(count: number): Generator<TraceEvent> {
    for (let round = 0; round < count; round++) {
      yield alloc(0x10_0000 + 32 * round, 8, { stack: ['leaks', 'main'], time: BigInt(1e12 + 10 * round) })
      yield alloc(0x5000_0000 + 4096 * (round % 50), 1000, { stack: ['works', 'main'] })
      if (round >= 20) yield free(0x5000_0000 + 4096 * ((round - 20) % 50))
    }
  }

  test('live bytes over time, generations and the map hold for long traces', { tags: ['slow'] }, () => {
    const events = [...rounds(20_000)]
    const data = dataOf(events)
    expectWhole(data)
    const { sites, frames, peakSites, generations, addresses } = data
    const leaks = sites.stack.findIndex(([frame]) => frames[frame!]!.name === 'leaks')
    // The leak grows steadily.
    const spark = sites.spark[leaks]!
    expect(spark).toHaveLength(sites.sparkMoments.event.length)
    expect(spark.length).toBeGreaterThan(15)
    expect(spark.every((bytes, i) => i === 0 || bytes > spark[i - 1]!)).toBe(true)
    expect(spark.at(-1)).toBe(160_000)
    expect(sites.sparkMoments.event.at(-1)).toBe(events.length)
    const row = peakSites.site.indexOf(leaks)
    peakSites.event.forEach((event, i) => {
      // Three events of a round, after the first 20 rounds of two.
      const soFar = event <= 40 ? Math.ceil(event / 2) : 20 + Math.ceil((event - 40) / 3)
      expect(peakSites.bytes[row]![i]).toBe(8 * soFar)
    })
    expect(peakSites.event.length).toBeGreaterThan(200)
    expect(peakSites.event.length).toBeLessThanOrEqual(513)
    const own = generations.sites.endBytes[generations.sites.site.indexOf(leaks)]!.map(Number)
    expect(Math.max(...own.slice(1, -1)) - Math.min(...own.slice(1, -1))).toBeLessThanOrEqual(8)
    const { map, use } = addresses!
    expect(map.event.length).toBeGreaterThan(200)
    expect(map.event.length).toBeLessThanOrEqual(512)
    const totals = map.event.map((_, moment) => map.cells.reduce((all, cells) => all + cells[moment]!, 0))
    totals.forEach((thousandths, i) => {
      const live = Number(use.liveBytes[use.event.indexOf(map.event[i]!)])
      // The live set at all has a thousandth of a row.
      expect(Math.abs((thousandths * Number(map.rowBytes)) / 1000 - live)).toBeLessThan(
        (map.cells.length * Number(map.rowBytes)) / 1000 + 1,
      )
    })
    expect(map.ranges.map(({ from, to }) => [from, to])).toEqual([
      ['0x100000', '0x1a0000'],
      ['0x50000000', '0x50040000'],
    ])
    expect(data.timeline.time?.at(-1)).toBe(199_990)
    expect(data.sites.sparkMoments.time?.at(-1)).toBe(199_990)
  })

  test('a block that is resized belongs to the slice that resized it', () => {
    const { generations, churn } = dataOf([
      alloc(0x1000, 10),
      ...Array.from({ length: 62 }, (_, i) => alloc(0x10_0000 + 16 * i, 1)),
      { kind: 'realloc', oldAddress: 0x1000n, address: 0x9000n, size: 500n },
    ])
    expect(generations.endBytes.slice(0, 1)).toEqual([1])
    expect(generations.endBytes.at(-1)).toBe(501)
    expect(churn).toMatchObject({ grown: 1, moved: 1, grownBytes: 490, chains: { from: [1], to: [1], count: [1] } })
  })

  test('small nodes and sites are folded, and nothing is lost', { tags: ['slow'] }, () => {
    const events = Array.from({ length: 5000 }, (_, i) =>
      alloc(16 * i + 16, (i % 97) + 1, { thread: BigInt(i % 40), stack: [`inner${i}`, `outer${i % 300}`, 'main'] }),
    ).concat(Array.from({ length: 2000 }, (_, i) => free(16 * i + 16, { thread: BigInt(i % 37) })))
    const limits: ReportLimits = { nodes: 400, sites: 50, changes: 50, problems: 10, name: 100, moments: 100 }
    const data = dataOf(events, limits)
    expectWhole(data)
    expect(data.tree.parents.length).toBeLessThanOrEqual(400)
    expect(data.tree.parents.length).toBeGreaterThan(300)
    expect(data.sites.node).toHaveLength(50)
    expect(data.sites.stack.at(-1)).toEqual([])
    expect(data.threads.name).toHaveLength(33)
    expect(data.threads.name.at(-1)).toBe('')
    expect(data.omitted).toEqual([
      expect.stringMatching(/^Of 5,302 nodes of the tree of stacks, 5,\d\d\d small ones are in \(other\)\.$/),
      'Of 5,000 sites, 49 are listed, and all others in one row.',
    ])
    expect(dataOf(events, { ...limits, nodes: 5302, sites: 5000 }).omitted).toEqual([])
  })

  test('names that are long or hostile are cut, and nothing else', () => {
    const name = '</script><img src=x onerror=alert(1)>'
    const events = [
      alloc(0x1000, 1, { stack: [name, 'x'.repeat(1 << 20), 'main'] }),
      free(0x2000, { function: name.repeat(1000) }),
    ]
    const { frames, omitted, problems } = dataOf(events)
    expect(frames.map((frame) => frame.name)).toContain(name)
    expect(Math.max(...frames.map((frame) => frame.name.length))).toBeLessThan(600)
    expect(omitted.some((sentence) => /shortened to 512 characters/.test(sentence))).toBe(true)
    expect(problems.kind).toEqual(['unknownFree'])
    expect(frames[problems.stack[0]![0]!]!.name.startsWith(name)).toBe(true)
  })

  test('of very many problems the first are listed', () => {
    const { problems, omitted } = dataOf(Array.from({ length: 3000 }, (_, i) => free(16 * i + 16)))
    expect(problems.event).toHaveLength(1000)
    expect(problems.counts.unknownFree).toBe(3000)
    expect(problems.address[1]).toBe('0x20')
    expect(omitted).toEqual(['Of 3,000 problems, the first 1,000 are listed.'])
  })

  test('addresses all over the place, of many processes, keep the map small', () => {
    const events = Array.from({ length: 20_000 }, (_, i): TraceEvent => ({
      kind: 'alloc',
      process: BigInt(i % 100),
      // Of several processes, addresses have at most 48 bits, besides the sign.
      address: BigInt.asUintN(64, BigInt.asIntN(48, BigInt(i) * 0x9e37_79b9_7f4a_7c15n)) | 16n,
      size: i % 1000 === 0 ? 2n ** 64n - 1n : 100n,
    }))
    const data = dataOf(events)
    expectWhole(data)
    expect(data.addresses!.map.cells.length).toBeLessThanOrEqual(256)
    // No process beyond 64 has a map, one of which are events without a process.
    expect(data.omitted.some((sentence) => /of processes that the map does not have/.test(sentence))).toBe(true)
  })

  test('traces without addresses have none in the report', () => {
    const events: TraceEvent[] = [
      { kind: 'alloc', index: 1n, size: 5n },
      { kind: 'free', index: 1n },
    ]
    const data = dataOf(events)
    expectWhole(data)
    expect(data.addresses).toBeUndefined()
  })

  test('invented addresses have neither pages nor a map, and those of other traces beside them do', () => {
    const invented = {
      header: { format: 'heaptrack', layout: { raw: false } },
      events: [alloc(0x1000, 10), alloc(0x2000, 0)],
    }
    const own = { header: HEADER, events: [alloc(0x7000, 20), alloc(0x8000, 0)] }
    const alone = reportOf([invented]).data()
    expect(alone.addresses).toBeUndefined()
    expect(alone.noAddresses).toBe('invented')
    expect(alone.omitted).toEqual([
      'Addresses and pages of interpreted heaptrack files: they have none.',
      expect.stringContaining('do not say which block is freed'),
    ])
    expect(alone.problems.address).toEqual([null])
    expect(alone.summary.leaked).toEqual({ blocks: 2, bytes: 10 })
    expect(alone.sites.endBytes).toEqual([10])

    const both = reportOf([invented, own]).data()
    expect(both.addresses!.map.ranges.map(({ from }) => from)).toEqual(['0x0'])
    expect(sum(both.addresses!.pages.atEnd)).toBe(1n)
    expect(both.noAddresses).toBeUndefined()
    expect(both.omitted).toEqual(alone.omitted)
    expect(both.problems.address).toEqual([null, '0x8000'])

    const raw = reportOf([{ ...invented, header: { format: 'heaptrack', layout: { raw: true } } }]).data()
    expect(raw.addresses?.use.pages.at(-1)).toBe(1)
    expect(raw.omitted).toEqual([])
  })

  test('nothing at all', () => {
    const data = new ReportCollector().finish().data()
    expectWhole(data)
    expect(data.summary.events).toBe(0)
    expect(JSON.parse(JSON.stringify(data))).toEqual(data)
  })

  test('many short traces', () => {
    const traces = Array.from({ length: 2000 }, () => ({
      header: { ...HEADER },
      events: [alloc(0x1000, 16, { stack: ['f'] }), alloc(0x3000, 8), free(0x1000)],
    }))
    const data = reportOf(traces).data()
    expectWhole(data)
    expect(data.summary.leaked).toEqual({ blocks: 2000, bytes: 16_000 })
    expect(data.addresses!.pages.atEnd[0]).toBe(2000)
    expect(data.notes[0]).toMatch(/^The input has 2000 traces/)
  })

  test('the figures are the same whatever the size of batches', () => {
    const events = [...rounds(3000)]
    const whole = reportOf([{ header: HEADER, events }]).data()
    expect(reportOf([{ header: HEADER, events }], 7).data()).toEqual(whole)
  })

  test('a comparison with another run has all differences', () => {
    const before = reportOf([{ header: HEADER, events: [alloc(16, 100, { stack: ['f', 'main'] }), alloc(32, 1)] }])
    const events = [alloc(16, 100, { stack: ['f', 'main'] }), free(16), alloc(32, 1), alloc(48, 2), alloc(64, 40)]
    const after = reportOf([{ header: HEADER, events }])
    const difference = compareProfiles(before.profile, after.profile)
    const { comparison, frames } = after.data({ compared: { name: 'old.mtrc', difference } })
    expect(comparison).toMatchObject({ old: 'old.mtrc', differing: 2 })
    expect(comparedRows({ comparison, frames })).toEqual([['[unknown]'], ['f', 'main']])
    expect(comparison!.changes.before.endBytes).toEqual([1, 100])
    expect(comparison!.changes.after.endBytes).toEqual([43, 0])
    expect(comparison!.totals.new).toMatchObject({ allocatedBlocks: 4, endBytes: 43 })
    const { omitted, comparison: one } = after.data({
      compared: { name: 'old', difference },
      limits: { ...REPORT_LIMITS[0], changes: 2 },
    }) as Required<ReportData>
    expect(one.differing).toBe(2)
    expect(omitted).toContain('Of 2 stacks that differ, 1 with a small difference is in (other).')
    expect(one.changes.folded.toSorted()).toEqual([0, 1])
    expect(sum(one.changes.before.endBytes)).toBe(101n)
  })

  test('statistics are the same without an observer', () => {
    const events = [...rounds(2000)]
    const statistics = new StatisticsCollector()
    for (const batch of inBatches(events, 4096, HEADER)) statistics.add(batch)
    const { allocated, peakBytes } = statistics.finish()
    const { summary } = dataOf(events)
    expect(summary.allocated).toEqual(plain(allocated))
    expect(summary.peakBytes).toEqual(plain(peakBytes))
  })

  test('every metric of the tree is a column', () => {
    const { tree } = dataOf([alloc(16, 1)])
    expect(Object.keys(tree)).toEqual(expect.arrayContaining([...TREE_METRICS]))
  })
})
