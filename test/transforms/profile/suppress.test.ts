import { expect, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { parseSuppressions } from '../../../lib/names/suppressions.js'
import { ProfileCollector } from '../../../lib/transforms/profile/collector.js'
import type { Profile, ProfileOptions } from '../../../lib/transforms/profile/profile.js'
import { suppressLeaks } from '../../../lib/transforms/profile/suppress.js'
import { ReportCollector } from '../../../lib/transforms/report/collector.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { suppress } from '../../../lib/transforms/statistics/suppress.js'
import { HEADER, inBatches } from '../events.js'

const STACKS = [
  ['malloc', 'grow at pool.c:3', 'main'],
  ['malloc', 'read at cache.c:4', 'main'],
  ['malloc', 'in /usr/lib/libother.so.1+0x20', 'main'],
  ['malloc', 'read at cache.c:9', 'start'],
]
const EVENTS = Array.from({ length: 300 }, (_, i): TraceEvent[] => {
  const address = BigInt(16 * i + 16)
  const one: TraceEvent = { kind: 'alloc', thread: 7n, address, size: BigInt(i), stack: STACKS[i % 4] }
  return i % 3 === 0 ? [one, { kind: 'free', thread: 7n, address }] : [one]
}).flat()
const BATCHES = inBatches(EVENTS, 64, HEADER)
const RULES = parseSuppressions('leak:pool.c\nleak:libother\nleak:^read$\nleak:7')

function profileOf(options: ProfileOptions = {}): Profile {
  const collector = new ProfileCollector(options)
  for (const batch of BATCHES) collector.add(batch)
  return collector.finish()
}

const sum = (profile: Profile, of: 'leaked' | 'live' | 'allocated') =>
  [...profile.samples()].reduce((all, sample) => all + sample[of].bytes, 0n)

test('a profile is without the leaks that statistics are without', () => {
  const collector = new StatisticsCollector()
  for (const batch of BATCHES) collector.add(batch)
  const some = RULES.slice(0, 2)
  const expected = suppress(collector.finish(), some)
  const { profile, suppressed } = suppressLeaks(profileOf(), some)
  expect(suppressed).toEqual(expected.suppressed)
  expect(suppressed.rules.map(({ name }) => name)).toEqual(['leak:pool.c', 'leak:libother'])
  expect(profile.statistics.leaked).toEqual(expected.leaked)
  expect(profile.statistics.suppressed).toEqual(suppressed)
  expect([sum(profile, 'leaked'), sum(profile, 'live')]).toEqual([expected.leaked.bytes, expected.leaked.bytes])
  expect(sum(profile, 'allocated')).toBe(expected.allocated.bytes)
  expect(expected.leaked.bytes).toBeGreaterThan(0n)
})

test('the live set at another moment stays, and threads at the root are no frames', () => {
  const before = profileOf({ at: 'peak', threadRoot: true })
  const { profile, suppressed } = suppressLeaks(before, RULES, 1)
  expect(suppressed.rules.map(({ name }) => name)).toEqual(['leak:pool.c', 'leak:libother', 'leak:^read$'])
  expect(sum(profile, 'live')).toBe(sum(before, 'live'))
  expect(sum(profile, 'leaked')).toBe(0n)
})

test('a report is without them, in its summary, sites and tree, and says so', () => {
  const reports = [undefined, RULES.slice(0, 2)].map((rules) => {
    const collector = new ReportCollector()
    for (const batch of BATCHES) collector.add(batch)
    return collector.finish(true, rules).data()
  })
  const [whole, rest] = reports as [(typeof reports)[number], (typeof reports)[number]]
  const total = (values: readonly (number | string)[]) => values.reduce((all: bigint, one) => all + BigInt(one), 0n)
  const { suppressed, leaked } = rest.summary
  expect(BigInt(suppressed?.bytes ?? 0) + BigInt(leaked.bytes)).toBe(BigInt(whole.summary.leaked.bytes))
  expect(suppressed?.blocks).toBe(100)
  expect(total(rest.sites.endBytes)).toBe(BigInt(leaked.bytes))
  expect(total(whole.sites.endBytes)).toBe(BigInt(whole.summary.leaked.bytes))
  expect(rest.sites.allocatedBytes).toEqual(whole.sites.allocatedBytes)
  expect(rest.notes.join()).toMatch(/^Leaks of 100 blocks with [\d,]+ bytes are suppressed, by 2 rules: /)
  expect(whole.notes).toEqual([])
  expect(whole.summary.suppressed).toBeUndefined()
})
