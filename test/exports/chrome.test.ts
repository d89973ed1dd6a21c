import { describe, expect, test } from 'vitest'
import type { Profile } from '../../lib/transforms/profile/profile.js'
import { shell } from '../support/commands.js'
import { batchesOf, type TraceEvent } from '../../lib/event/batch.js'
import type { TraceHeader } from '../../lib/event/header.js'
import { ProfileCollector } from '../../lib/transforms/profile/collector.js'
import { ReportCollector } from '../../lib/transforms/report/collector.js'
import { hostileEvents, profileOf, written } from './support.js'

const TRACE = 'test/fixtures/mtrc/small64.mtrc.gz'

const NS: TraceHeader = { format: 'x', timeUnit: 'ns' }

interface Counter {
  ph: string
  ts: number
  name: string
  args: Record<string, number>
}

/** The counters of a file by their names, each in the order of time. */
function counters(bytes: Uint8Array): Record<string, Counter[]> {
  const { traceEvents } = JSON.parse(Buffer.from(bytes).toString()) as { traceEvents: Counter[] }
  expect(traceEvents[0]).toMatchObject({ ph: 'M', name: 'process_name' })
  const found: Record<string, Counter[]> = {}
  for (const counter of traceEvents.slice(1)) {
    expect(counter.ph).toBe('C')
    expect(Object.values(counter.args).every((value) => Number.isFinite(value) && value >= 0)).toBe(true)
    ;(found[counter.name] ??= []).push(counter)
  }
  return found
}

describe("counters of Chrome's traces", () => {
  test('have the sums, the peak and the end that hf-stats --json has', { tags: ['slow'] }, async () => {
    const { allocated, freed, peakBytes, leaked } = JSON.parse(
      (await shell(`hf-stats --json ${TRACE}`)).stdout.toString(),
    ) as Profile['statistics']
    const found = counters((await shell(`hf-profile --to chrome ${TRACE}`)).stdout)
    const sum = (name: string, arg: string) => found[name]!.reduce((all, { args }) => all + args[arg]!, 0)
    expect(sum('allocated', 'bytes')).toBe(allocated.bytes)
    expect(sum('operations', 'allocations')).toBe(allocated.blocks)
    expect(sum('operations', 'frees')).toBe(freed.blocks)
    expect(Math.max(...found['live bytes']!.map(({ args }) => args['bytes']!))).toBe(peakBytes.bytes)
    expect(found['live bytes']?.at(-1)?.args).toEqual({ bytes: leaked.bytes })
    expect(found['live bytes']!.length).toBeLessThanOrEqual(2001)
  })

  test('are at the times of the trace, in microseconds', async () => {
    const events: TraceEvent[] = [1500n, 2750n].map((time) => ({ kind: 'alloc', address: time, size: 8n, time }))
    const profile = profileOf(events, {}, { format: 'x', timeUnit: 'ns' })
    const found = counters(await written('chrome', profile))
    expect(found['live bytes']?.map(({ ts, args }) => [ts, args['bytes']])).toContainEqual([0, 8])
    expect(found['live bytes']?.at(-1)).toMatchObject({ ts: 1.25, args: { bytes: 16 } })
  })

  test('moments without a time are at the last one before, and traces come one after the other', async () => {
    const alloc = (address: bigint, time?: bigint): TraceEvent => ({
      kind: 'alloc',
      address,
      size: 8n,
      ...(time !== undefined && { time }),
    })
    const untimed = [alloc(1n, 1000n), alloc(2n, 3000n), alloc(3n), { kind: 'free', address: 3n }, alloc(4n, 2500n)]
    const found = counters(await written('chrome', profileOf(untimed as TraceEvent[], {}, NS)))
    expect(found['operations']?.map(({ ts }) => ts)).toEqual([0, 2, 2, 2, 2])
    expect(found['live bytes']?.map(({ ts, args }) => [ts, args['bytes']])).toContainEqual([2, 24])

    const collector = new ProfileCollector()
    const traces: [TraceHeader, TraceEvent[]][] = [
      [{ ...NS }, [alloc(1n), alloc(2n, 5_000_000n), alloc(3n, 9_000_000n)]],
      [{ format: 'y', timeUnit: 'us' }, [alloc(1n, 1n), alloc(2n, 7n)]],
      [{ ...NS }, [alloc(1n), alloc(2n, 1000n), alloc(3n, 2000n), alloc(4n, 1_001_000n)]],
    ]
    for (const [header, events] of traces) for (const batch of batchesOf(events, header)) collector.add(batch)
    const profile = collector.finish()
    expect(profile.statistics.time?.span).toBe(5_000_000n)
    const later = counters(await written('chrome', profile))
    expect(later['operations']?.map(({ ts }) => ts)).toEqual([0, 0, 4000, 4000, 4000, 4000, 4000, 4001, 5000])
    expect(later['live bytes']).toContainEqual(expect.objectContaining({ ts: 5000, args: { bytes: 32 } }))
    const report = new ReportCollector()
    for (const [header, events] of traces) for (const batch of batchesOf(events, { ...header })) report.add(batch)
    const { summary, timeline } = report.finish().data({ name: 'a' })
    expect(timeline.time).toEqual([null, 0, 4_000_000, null, null, null, 4_000_000, 4_001_000, 5_000_000])
    expect(summary.peakTime).toBe(5_000_000)
    const text = (await written('massif', profileOf([alloc(1n, 0n), alloc(2n, 300_000_000n)], {}, NS))).toString()
    expect(text.match(/^time=\d+/gm)?.at(-1)).toBe('time=300')
  })

  test('take any names, and nothing', async () => {
    expect(counters(await written('chrome', profileOf(hostileEvents()), { name: '</script>"' }))).toHaveProperty(
      'allocated',
    )
    expect(counters(await written('chrome', profileOf([])))).toEqual({})
  })
})
