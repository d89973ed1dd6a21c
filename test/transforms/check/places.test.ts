import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { groupedSites } from '../../../lib/cli/report/grouped-sites.js'
import { subject } from '../../../lib/cli/report/check/words.js'
import { parseFrame } from '../../../lib/event/frame.js'
import type { TraceEvent } from '../../../lib/event/trace-event.js'
import { OwnFrames } from '../../../lib/names/own-frames.js'
import { check } from '../../../lib/transforms/check/check.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import type { SiteStatistics } from '../../../lib/transforms/statistics/result.js'
import { runs } from '../../support/runs.js'
import { HEADER, inBatches } from '../events.js'
import { isPlain, placedEvents } from '../places.js'
import { budgets, measured } from './program.js'

const FIGURES = { allocated: 0, allocations: 0, leaked: 0, 'leaked-blocks': 0 }

function sitesOf(events: readonly TraceEvent[]): SiteStatistics[] {
  const collector = new StatisticsCollector()
  for (const batch of inBatches(events, 16, HEADER)) collector.add(batch)
  return [...collector.finish().sites]
}

/** The function of a row of `hf-stats --by function`, or else its file or module, without the address of a call. */
function nameOf({ function: name = '', file, module }: SiteStatistics): string {
  const place = /^(?:at|in) |^\[0x/.test(name) ? parseFrame(name) : { function: name, file, module }
  return (place.function || place.file || place.module || '').replace(/ \[0x[0-9a-f]+\]$/, '')
}

describe('places of which anything may be known', () => {
  test('have in --each what the rows of --by function have', () => {
    fc.assert(
      fc.property(placedEvents, (some) => {
        const events = some.filter(isPlain)
        const all = measured(events, budgets({ each: '*', max: FIGURES }), HEADER, 16).groups[0]
        const expected = new Map<string, bigint[]>()
        for (const row of groupedSites(sitesOf(events), new OwnFrames(), 'function')) {
          const name = nameOf(row)
          const { allocated, leaked } = row
          if (name === '' || allocated.blocks === 0) continue
          const sums = expected.get(name) ?? [0n, 0n, 0n, 0n]
          const own = [allocated.bytes, BigInt(allocated.blocks), leaked.bytes, BigInt(leaked.blocks)]
          expected.set(
            name,
            sums.map((sum, i) => sum + own[i]!),
          )
        }
        const found = new Map(
          [...(all ?? [])].map(([name, measures]) => [
            name,
            Object.keys(FIGURES).map((figure) => (measures[figure as keyof typeof FIGURES] as { value: bigint }).value),
          ]),
        )
        expect(found).toEqual(expected)
      }),
      { numRuns: runs(200) },
    )
  })

  test.each([{ each: '*' }, { at: '*' }, { at: 'm*' }])('have sites that add up to the value: %j', (group) => {
    fc.assert(
      fc.property(placedEvents, (some) => {
        // Traces in which no place has a name are compared by size.
        const events: TraceEvent[] = [{ kind: 'alloc', address: 99n, size: 1n, function: 'h' }, ...some]
        const groups = budgets({ ...group, max: FIGURES })
        const { budgets: rows } = check([measured(events, groups, HEADER, 16)], [], groups, { sites: 1000 })
        for (const { figure, value, sites } of rows) {
          if (sites === undefined) continue
          const of = (one: (typeof sites)[number]) =>
            figure === 'allocated' || figure === 'leaked' ? one.new.bytes : BigInt(one.new.blocks)
          expect([figure, sites.reduce((sum, one) => sum + of(one), 0n)]).toEqual([figure, value])
        }
      }),
      { numRuns: runs(200) },
    )
  })
})

const EVENTS: TraceEvent[] = [
  { kind: 'alloc', address: 0x10n, size: 100n, function: 'good' },
  { kind: 'alloc', address: 0x20n, size: 1000n, file: 'w.c', line: 3 },
  { kind: 'alloc', address: 0x30n, size: 1000n, file: 'w.c', line: 4 },
  { kind: 'alloc', address: 0x40n, size: 7n, module: 'm.so', callSite: 0x55n },
  { kind: 'alloc', address: 0x50n, size: 8n, stack: ['in m.so+0x10'] },
  { kind: 'alloc', address: 0x60n, size: 9n, callSite: 0x55n },
]

test.each([
  ['w.c', 2000n],
  ['m.so', 15n],
  ['*', 2115n],
])('a file or a module is a name: %s', (at, value) => {
  const groups = budgets({ at, max: { peak: 1 } })
  const [row] = check([measured(EVENTS, groups)], [], groups).budgets
  expect(row?.value).toBe(value)
})

test('the source of a site without a function is known', () => {
  const groups = budgets({ max: { allocated: 0 } })
  const sitesOf = (events: readonly TraceEvent[]) =>
    check([measured(events, groups)], [], groups).budgets[0]?.sites?.map(({ stack, file, line }) => [stack, file, line])
  expect(sitesOf(EVENTS.slice(0, 2))).toEqual([
    [['w.c'], 'w.c', 3],
    [['good'], undefined, undefined],
  ])
  // Of two lines, neither is certain.
  expect(sitesOf(EVENTS.slice(1, 3))).toEqual([[['w.c'], 'w.c', undefined]])
})

test('one function is not called functions', () => {
  const groups = budgets({ each: 'good', max: { peak: '1K' } })
  const [row] = check([measured(EVENTS, groups)], [], groups).budgets
  expect(subject(row!, 'heaptrack')).toBe('peak memory of each good (1 function)')
})
