import { expect, test } from 'vitest'
import { SimulationReport } from '../../../lib/cli/report/simulation.js'
import { canGain, poolGain } from '../../../lib/cli/report/pool-gain.js'
import { poolSentence } from '../../../lib/exports/simulation/pools.js'
import { batchesOf } from '../../../lib/event/batch.js'
import type { TraceEvent } from '../../../lib/event/trace-event.js'
import { LifetimeTrainer } from '../../../lib/transforms/simulate/lifetimes/trainer.js'
import { Simulator } from '../../../lib/transforms/simulate/simulator.js'
import { fragmented } from '../../support/short-lived.js'

/** The events of lines. */
function eventsOf(text: string): TraceEvent[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { kind, address, size, stack } = JSON.parse(line) as Record<string, unknown>
      return {
        kind,
        address: BigInt(address as string),
        ...(size !== undefined && { size: BigInt(size as number) }),
        ...(stack !== undefined && { stack }),
      }
    }) as TraceEvent[]
}

/** The results of a policy with and without arenas, and what was learned. */
function simulated(text: string, general: 'first-fit' | 'best-fit') {
  const batches = batchesOf(eventsOf(text))
  const trainer = new LifetimeTrainer()
  for (const batch of batches) trainer.add(batch)
  const predict = trainer.finish()
  const simulators = [
    new Simulator({ policy: 'bump', predict, general }, true),
    new Simulator({ policy: general }, true),
  ]
  for (const one of simulators)
    for (const batch of batches) {
      one.feed(batch)
      while (one.next() !== null);
    }
  const results = simulators.map((one) => one.results()[0]!)
  const { shortSites } = predict.training
  const report = new SimulationReport(simulators, false, true, shortSites)
  return { results, shortSites, report }
}

test.each(['first-fit', 'best-fit'] as const)('names the pools that save memory, and how much: %s', (general) => {
  const { results, shortSites, report } = simulated(fragmented(), general)
  const [pooled, alone] = results.map(({ mostPages }) => mostPages!.pages) as [number, number]
  expect(alone - pooled).toBeGreaterThan(0.15 * alone)
  const gain = poolGain(results, shortSites)!
  expect(gain).toMatchObject({ general, saved: alone - pooled, without: { pages: alone }, pooled: { pages: pooled } })
  expect(gain.sites).toEqual(['parse at parse.c:12 < main at main.c:3'])
  expect(results.map(canGain)).toEqual([expect.any(Boolean), true])
  const line = poolSentence(gain)
  const saved = (alone - pooled).toLocaleString('en-US')
  expect(line).toContain(
    `those of parse at parse.c:12 < main at main.c:3, save ${saved} of ${alone.toLocaleString('en-US')} resident bytes`,
  )
  expect(line).toMatch(
    new RegExp(`by simulation with ${general}; external fragmentation is 3 % instead of (19|20) %\\.$`),
  )
  expect(report.traces()[0]!.pools).toEqual(gain)
  expect(report.text(100).replace(/\n */g, ' ')).toContain(line)
})

test('lists the sites by the bytes of their short-lived blocks', () => {
  const { shortSites } = simulated(fragmented(), 'first-fit')
  // Bursts whose blocks have more than 32 KiB after them are not short-lived: those are the last ones.
  const sizes = Array.from({ length: 60 }, (_, burst) => 64 + 8 * burst)
  const short = sizes.filter((size) => 30 * (size + 600) - size <= 32_768)
  expect(shortSites.map(({ site }) => site.stack?.[1])).toEqual(['parse at parse.c:12'])
  expect(shortSites[0]).toMatchObject({ blocks: 30 * short.length, bytes: 30 * short.reduce((sum, n) => sum + n, 0) })
})

test('says nothing where the gain is small, or there is nothing to compare with', () => {
  const { results, shortSites } = simulated(fragmented(2), 'first-fit')
  const [pooled, alone] = results.map(({ mostPages }) => mostPages!.pages) as [number, number]
  expect(pooled).toBeGreaterThan(0.9 * alone)
  expect(poolGain(results, shortSites)).toBe(null)
  const large = simulated(fragmented(), 'first-fit')
  expect(poolGain(large.results, [])).toBe(null)
  expect(poolGain(large.results.slice(0, 1), large.shortSites)).toBe(null)
  expect(poolGain(large.results.slice(1), large.shortSites)).toBe(null)
  expect(poolGain([], large.shortSites)).toBe(null)
})

test('knows without simulating pools that they would save nothing', () => {
  const { results, shortSites } = simulated(fragmented().replaceAll('"size":600', '"size":4080'), 'best-fit')
  expect(canGain(results[1]!)).toBe(false)
  expect(poolGain(results, shortSites)).toBe(null)
})

test('names at most three sites', () => {
  const { results, shortSites } = simulated(fragmented(), 'first-fit')
  const sites = Array.from({ length: 5 }, (_, n) => ({ ...shortSites[0]!, site: { stack: [`f${n} at f.c:1`] } }))
  expect(poolSentence(poolGain(results, sites)!)).toMatch(/those of f0 at f\.c:1; f1 at f\.c:1; f2 at f\.c:1, save/)
})
