import { expect, test } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { xorshift } from '../../support/hostile-calls.js'

function countsOf(events: TraceEvent[]) {
  const collector = new StatisticsCollector()
  for (const batch of batchesOf(events)) collector.add(batch)
  return collector.finish()
}

/** Blocks that are allocated, freed once, and freed once more after `between` other blocks were. */
function* twice(n: number, between: number, address: (i: number) => bigint): Generator<TraceEvent> {
  for (let i = 0; i < n + between; i++) {
    if (i < n) yield { kind: 'alloc', address: address(i), size: 8n }
    if (i < n) yield { kind: 'free', address: address(i) }
    if (i >= between) yield { kind: 'free', address: address(i - between) }
  }
}

test.each([
  ['neighbours', (i: number) => BigInt(4096 + 16 * i)],
  ['multiples of 2^22 in both halves', (i: number) => (BigInt(1 + (i >> 8)) << 54n) | (BigInt(i & 255) << 22n)],
  ['multiples of 2^32', (i: number) => BigInt(i + 1) << 32n],
])('every double free is one, among 60,000 blocks between: %s', (_name, address) => {
  const n = 70_000
  const result = countsOf([...twice(n, 60_000, address)])
  expect(result.faults.doubleFrees).toBe(n)
})

test('double frees and unknown frees are those of a plain map', { tags: ['large'] }, () => {
  const random = xorshift(7)
  const live = new Set<number>()
  const ends = new Map<number, number>()
  let [count, addresses] = [0, 1000]
  const expected = { doubleFrees: 0, unknownFrees: 0 }
  const events: TraceEvent[] = []
  for (let i = 0; i < 4_000_000; i++) {
    // At first few blocks end again and again; then so many that some have ended too long ago to be remembered.
    if (i === 500_000) addresses = 600_000
    const at = random(addresses)
    const address = BigInt(at + 1) * 48n
    if (random(2) === 0 && !live.has(at)) {
      live.add(at)
      events.push({ kind: 'alloc', address, size: 48n })
    } else {
      events.push({ kind: 'free', address })
      if (live.delete(at)) ends.set(at, count++)
      else if (count - (ends.get(at) ?? -Infinity) <= 262_144) expected.doubleFrees++
      else expected.unknownFrees++
    }
  }
  const result = countsOf(events)
  expect(expected.unknownFrees).toBeGreaterThan(100_000)
  expect(result.faults).toMatchObject(expected)
})
