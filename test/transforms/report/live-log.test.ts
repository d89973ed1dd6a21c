// @module-tag slow
import { describe, expect, test } from 'vitest'
import { filterFile } from '../../../lib/streams/filter-file.js'
import { openTrace } from '../../../lib/streams/io/open-trace.js'
import { LiveLog, type LiveSites } from '../../../lib/transforms/report/live-log.js'
import { ProfileCollector } from '../../../lib/transforms/profile/collector.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import type { Frame } from '../../../lib/transforms/profile/profile.js'
import { batchesOf, type EventBatch, type TraceEvent } from '../../../lib/event/batch.js'

const TRACES = [
  'mtrc/small64.mtrc.gz',
  'mtrc/git.mtrc.gz',
  'heaptrack/cxx.heaptrack.gz',
  'replay/mstress-head.txt.gz',
  'glibc-mtrace/mt-edge.mtrace',
  'valgrind/mtv-edge.log',
].map((name) => `test/fixtures/${name}`)

/** Numbers from 0 to below 1, the same in every run. */
function* random(seed: number): Generator<number, never> {
  for (let state = seed; ;) yield (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}

async function logOf(path: string): Promise<LiveLog> {
  const log = new LiveLog()
  for await (const batch of openTrace(path).batches) log.add(batch)
  return log
}

const frameKey = ({ name, file, line }: Frame) => `${name} ${file} ${line}`

/** The figures of each stack, as text. */
function byStack({ frames, stack }: LiveSites, columns: readonly (readonly number[])[]): Map<string, number[]> {
  const sites = new Map<string, number[]>()
  stack.forEach((ids, n) => {
    const key = ids.map((id) => frameKey(frames[id]!)).join('\n')
    const sum = sites.get(key) ?? columns.map(() => 0)
    sites.set(
      key,
      columns.map((column, c) => sum[c] + column[n]),
    )
  })
  return new Map([...sites].filter(([, figures]) => figures.some((figure) => figure !== 0)))
}

/** Live blocks and bytes of each stack, and what it allocated, from a profile at a moment. */
async function profiled(path: string, event: number): Promise<Map<string, number[]>> {
  const collector = new ProfileCollector({ at: { event } })
  for await (const batch of openTrace(path).batches) collector.add(batch)
  const { frames, tree, samples } = collector.finish()
  const sites = new Map<string, number[]>()
  for (const { node, live } of samples()) {
    if (live.blocks === 0 && live.bytes === 0n) continue
    const stack: string[] = []
    for (let at = node; at > 0; at = tree.parents[at]!) stack.push(frameKey(frames[tree.frames[at]!]!))
    sites.set(stack.join('\n'), [live.blocks, Number(live.bytes)])
  }
  return sites
}

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)

describe('the live set at a moment', () => {
  test.each(TRACES)('%s: is that of hf-filter --live-at and of profiles at random moments', async (path) => {
    const log = await logOf(path)
    const numbers = random(path.length)
    const moments = [
      1,
      log.events,
      ...Array.from({ length: 3 }, () => 1 + Math.floor(numbers.next().value * log.events)),
    ]
    for (const event of moments) {
      const live = log.at({ event })
      const statistics = new StatisticsCollector()
      for await (const batch of filterFile(path, { liveAt: { event } }) as AsyncIterable<EventBatch>)
        statistics.add(batch)
      const { leaked } = statistics.finish()
      expect([sum(live.liveBlocks), sum(live.liveBytes)], `${event}`).toEqual([leaked.blocks, Number(leaked.bytes)])
      expect(byStack(live, [live.liveBlocks, live.liveBytes]), `${event}`).toEqual(await profiled(path, event))
    }
  })

  test.each(TRACES)('%s: what is born and ended between two moments makes the difference', async (path) => {
    const log = await logOf(path)
    const numbers = random(path.length + 1)
    for (let n = 0; n < 3; n++) {
      const [from = 0, to = 0] = [numbers.next().value, numbers.next().value]
        .map((part) => Math.floor(part * log.events))
        .toSorted((a, b) => a - b)
      const change = log.at({ event: to }, { event: from })
      const { liveBlocks, liveBytes, beforeBlocks, beforeBytes, bornBlocks, bornBytes, endedBlocks, endedBytes } =
        change
      expect(byStack(change, [beforeBlocks, beforeBytes])).toEqual(from === 0 ? new Map() : await profiled(path, from))
      expect(byStack(change, [liveBlocks, liveBytes])).toEqual(to === 0 ? new Map() : await profiled(path, to))
      liveBlocks.forEach((live, i) => expect(live).toBe(beforeBlocks[i]! + bornBlocks[i]! - endedBlocks[i]!))
      liveBytes.forEach((live, i) => expect(live).toBe(beforeBytes[i]! + bornBytes[i]! - endedBytes[i]!))
    }
  })

  test('a time is the moment before the first event after it', async () => {
    const log = await logOf(TRACES[2]!)
    const last = log.at({ time: Number.MAX_SAFE_INTEGER })
    expect([sum(last.liveBlocks), sum(last.liveBytes)]).toEqual(
      [log.at({ event: log.events })].flatMap(({ liveBlocks, liveBytes }) => [sum(liveBlocks), sum(liveBytes)]),
    )
    expect(log.at({ time: -1 }).liveBytes).toEqual([])
  })
})

test('several traces come one after the other, and times in another unit are not used', () => {
  const log = new LiveLog()
  const alloc = (address: bigint, time: bigint): TraceEvent => ({ kind: 'alloc', address, size: 8n, time })
  for (const [timeUnit, events] of [
    ['ns', [alloc(16n, 500n), alloc(32n, 900n)]],
    ['us', [alloc(16n, 1n), alloc(32n, 70_000n)]],
    ['ns', [alloc(16n, 100n), alloc(32n, 150n)]],
  ] as const)
    for (const batch of batchesOf(events, { format: 'x', timeUnit })) log.add(batch)
  const at = (time: number) => log.at({ time }).event
  expect([at(0), at(399), at(449), at(450)]).toEqual([1, 1, 5, 6])
})
