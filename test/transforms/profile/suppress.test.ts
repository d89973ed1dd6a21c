import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { parseSuppressions } from '../../../lib/names/suppressions.js'
import { ProfileCollector } from '../../../lib/transforms/profile/collector.js'
import type { Profile, ProfileOptions } from '../../../lib/transforms/profile/profile.js'
import { suppressLeaks } from '../../../lib/transforms/profile/suppress.js'
import { ReportCollector } from '../../../lib/transforms/report/collector.js'
import { LiveLog } from '../../../lib/transforms/report/live-log.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { suppress } from '../../../lib/transforms/statistics/suppress.js'
import { runs } from '../../support/runs.js'
import { HEADER, inBatches } from '../events.js'
import { placedEvents } from '../places.js'

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
  const { profile, suppressed } = suppressLeaks(before, RULES)
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

const FRAMES = ['...', 'fun:f', 'src:w.c', 'obj:m.so', 'fun:*', 'obj:*']

const RULE = fc.constantFrom(
  'leak:*',
  'leak:unknown',
  'leak:0x',
  'leak:line',
  'leak:w.c:',
  'leak:^f$',
  'leak:main$',
  'leak:at w',
  'leak:m.so',
  ...FRAMES.map((frame) => `{\nx\nMemcheck:Leak\n${frame}\n}`),
)

test('every view leaves out the same leaks', { tags: ['slow'] }, () => {
  fc.assert(
    fc.property(RULE, placedEvents, (rule, events) => {
      const rules = parseSuppressions(rule)
      const batches = [...inBatches(events, 16, HEADER)]
      const fed = <Sink extends { add(batch: (typeof batches)[number]): void }>(sink: Sink) => {
        for (const batch of batches) sink.add(batch)
        return sink
      }
      const { suppressed, leaked } = suppress(fed(new StatisticsCollector()).finish(), rules)
      for (const threadRoot of [false, true]) {
        const one = suppressLeaks(fed(new ProfileCollector({ threadRoot })).finish(), rules)
        expect([one.suppressed, one.profile.statistics.leaked]).toEqual([suppressed, leaked])
        expect(sum(one.profile, 'leaked')).toBe(leaked.bytes)
      }
      const { summary, sites } = fed(new ReportCollector()).finish(true, rules).data()
      expect([BigInt(summary.suppressed?.bytes ?? 0), BigInt(summary.leaked.bytes)]).toEqual([
        suppressed?.bytes,
        leaked.bytes,
      ])
      const total = (values: readonly (number | string)[] = []) =>
        values.reduce((all: number, one) => all + Number(one), 0)
      expect(total(sites.suppressedBytes)).toBe(Number(suppressed?.bytes))
      const live = fed(new LiveLog(rules)).at({ event: events.length })
      expect(total(live.liveBytes.filter((_, row) => live.suppressed?.[row]))).toBe(Number(suppressed?.bytes))
    }),
    { numRuns: runs(900) },
  )
})

test('names that stand for what is not known fit no rule', () => {
  const events: TraceEvent[] = [
    { kind: 'alloc', address: 0x50n, size: 1n },
    { kind: 'alloc', address: 0x60n, size: 2n, callSite: 0x55d0n },
    { kind: 'alloc', address: 0x70n, size: 4n, line: 5 },
    { kind: 'alloc', address: 0x80n, size: 8n, file: 'w.c', line: 88 },
  ]
  const suppressedBy = (rule: string) => {
    const collector = new ProfileCollector()
    for (const batch of inBatches(events, 4, HEADER)) collector.add(batch)
    return suppressLeaks(collector.finish(), parseSuppressions(rule)).suppressed.bytes
  }
  expect(['*', 'unknown', '0x55d0', 'line', '88', 'w.c'].map((pattern) => suppressedBy(`leak:${pattern}`))).toEqual([
    8n,
    0n,
    0n,
    0n,
    0n,
    8n,
  ])
})
