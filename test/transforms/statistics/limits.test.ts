// @module-tag slow
import { describe, expect, test } from 'vitest'
import { MAX_KEYS } from '../../../lib/blocks/bounded-keys.js'
import type { AllocEvent, TraceEvent } from '../../../lib/event/trace-event.js'
import { ProfileCollector, MAX_STACKS } from '../../../lib/transforms/profile/collector.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { MAX_NODES, Paths } from '../../../lib/transforms/statistics/paths.js'
import { HEADER, inBatches } from '../events.js'

const around = (limit: number): [string, number][] => [
  ['below', limit - 1],
  ['at', limit],
  ['above', limit + 1],
]

const alloc = (i: number, fields: Partial<AllocEvent>): TraceEvent => ({
  kind: 'alloc',
  address: 16n * BigInt(i + 1),
  size: 8n,
  ...fields,
})

/** Adds n events, a thousand at a time. */
function add(collector: StatisticsCollector | ProfileCollector, n: number, eventOf: (i: number) => TraceEvent) {
  for (let from = 0; from < n; from += 1000) {
    const events = Array.from({ length: Math.min(1000, n - from) }, (_, i) => eventOf(from + i))
    for (const batch of inBatches(events, 1000, HEADER)) collector.add(batch)
  }
}

describe.each(around(MAX_KEYS))('%s the limit of distinct values', (_, n) => {
  const others = Math.max(0, n - MAX_KEYS)

  test.each<['sites' | 'threads', (i: number) => TraceEvent]>([
    ['sites', (i) => alloc(i, { function: `f${i}` })],
    ['threads', (i) => alloc(i, { thread: BigInt(i) })],
  ])('%s', (what, eventOf) => {
    const collector = new StatisticsCollector()
    add(collector, n, eventOf)
    const found = collector.finish()
    expect(found.full).toEqual(others > 0 ? [what] : [])
    const rows = found[what]
    expect(rows).toHaveLength(n)
    expect(rows.filter((row) => row.rest === 'others')).toHaveLength(others)
    expect(rows.every((row) => row.allocated.blocks === 1)).toBe(true)
  })

  test.each<['processes' | 'cpus', (i: number) => TraceEvent]>([
    ['cpus', (i) => alloc(i, { cpu: i })],
    // Blocks of so many processes are refused.
    ['processes', (i) => ({ kind: 'comment', process: BigInt(i) })],
  ])('%s', (what, eventOf) => {
    const collector = new StatisticsCollector()
    add(collector, n, eventOf)
    const { [what]: rows, full, events } = collector.finish()
    expect(full.includes(what)).toBe(others > 0)
    expect(rows).toHaveLength(n - others)
    expect(events - rows.reduce((sum, row) => sum + row.events, 0)).toBe(others)
  })

  test('sizes', () => {
    const collector = new StatisticsCollector()
    add(collector, n, (i) => alloc(i, { size: BigInt(i) }))
    const { sizes, full } = collector.finish()
    expect(full).toEqual(others > 0 ? ['sizes'] : [])
    expect(sizes.exact).toHaveLength(n - others)
    expect(sizes.others?.allocated.blocks ?? 0).toBe(others)
  })
})

test.each(around(MAX_STACKS))('%s the limit of stacks in a profile', (_, n) => {
  const collector = new ProfileCollector()
  add(collector, n, (i) => alloc(i, { stack: [`f${i}`] }))
  const profile = collector.finish(true)
  const found = [...profile.samples()].map(({ node }) => profile.frames[profile.tree.frames[node]!]!.name)
  expect(found).toHaveLength(n)
  expect(found.filter((name) => !/^f\d+$/.test(name))).toEqual(n > MAX_STACKS ? ['[others]'] : [])
})

test('frames that stacks do not share are counted up to the limit', () => {
  const paths = new Paths(4)
  const words = new Uint32Array(MAX_NODES)
  words.forEach((_, i) => (words[i] = i))
  const room = MAX_NODES - 4
  for (const n of [room - 1, room]) expect(paths.find(0, words, n)).toBe(3 + n)
  expect(paths.find(0, words, room + 1)).toBe(-1)
  expect(paths.find(1, words, 1)).toBe(-1)
  expect(paths.find(0, words, room)).toBe(3 + room)
  expect(paths.reversed(3 + room, 2)).toEqual([room - 1, room - 2])
})
