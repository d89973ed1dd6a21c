import { describe, expect, it } from 'vitest'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import type { Statistics } from '../../lib/transforms/statistics/result.js'
import { eventsOf, shapesOf, type Shape } from './generate.js'
import { Oracle } from './oracle.js'

/** Numbers of blocks from `from` to `to` in steps of 1.3. */
function steps(from: number, to: number): number[] {
  const all: number[] = []
  for (let n = from; n <= to; n *= 1.3) all.push(Math.round(n))
  return all
}

/** The figures of the statistics that the oracle has. */
function figuresOf(statistics: Statistics): ReturnType<Oracle['finish']> {
  const { events, allocated, freed, leaked, temporary } = statistics
  const peak = ({ blocks, bytes, event, allocatedBytes }: Statistics['peakBytes']) => ({
    blocks,
    bytes,
    event,
    allocatedBytes,
  })
  const { count, sum } = statistics.lifetimes.events
  return {
    events,
    allocated,
    freed,
    leaked,
    peakBytes: peak(statistics.peakBytes),
    peakBlocks: peak(statistics.peakBlocks),
    temporary,
    lifetimes: { count, sum },
    foreignFrees: statistics.threads.reduce((all, thread) => all + thread.foreignFrees, 0),
  }
}

function check(shape: Shape): void {
  const collector = new StatisticsCollector()
  const oracle = new Oracle()
  for (const batch of eventsOf(shape)) {
    oracle.add(batch)
    collector.add(batch)
  }
  const name = JSON.stringify(shape, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value))
  expect(figuresOf(collector.finish()), name).toEqual(oracle.finish())
}

describe('figures of shapes of programs equal those of plain code', () => {
  it('for few blocks', () => {
    const numbers = [0, 1, 2, ...steps(10, 3000)]
    for (let seed = 1; seed <= 3; seed++) for (const shape of shapesOf(numbers, seed)) check(shape)
  })

  // More than 131,072 blocks, all of them freed: the list of unused numbers is as long as it gets.
  it.each([145_000, 163_000])('for %d blocks that are freed', (blocks) => {
    check({ ...(shapesOf([blocks], 1)[0] as Shape), deaths: 'birth', reallocs: 'none', reused: false })
  })

  describe('for many blocks', { tags: ['slow'] }, () => {
    it.each(shapesOf(steps(3000, 5_000_000), 4))('$blocks, freed: $deaths, reallocs: $reallocs', check)
  })
})
