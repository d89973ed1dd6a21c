import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import type { Profile } from '../../lib/transforms/profile/profile.js'
import { shell } from '../support/commands.js'
import { hostileEvents, profileOf, written } from './support.js'

const TRACE = 'test/fixtures/mtrc/small64.mtrc.gz'

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
  test('have the sums, the peak and the end that hf-stats --json has', async () => {
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

  test('take any names, and nothing', async () => {
    expect(counters(await written('chrome', profileOf(hostileEvents()), { name: '</script>"' }))).toHaveProperty(
      'allocated',
    )
    expect(counters(await written('chrome', profileOf([])))).toEqual({})
  })
})
