import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { ProfileCollector } from '../../../lib/transforms/profile/collector.js'
import { addressFrame, frameOf, frameText, sourceFrame } from '../../../lib/transforms/profile/frames.js'
import type { Profile, ProfileMoment, ProfileOptions, Sample } from '../../../lib/transforms/profile/profile.js'
import { stacksOf } from '../../../lib/transforms/profile/stacks.js'
import { VALUES } from '../../../lib/transforms/profile/values.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import type { Amount, Site } from '../../../lib/transforms/statistics/result.js'
import { runs } from '../../support/runs.js'
import { HEADER, inBatches } from '../events.js'
import { statisticsOf } from '../statistics/oracle.js'
import { anyTraces } from '../statistics/random.js'

type Trace = { header: TraceHeader; events: readonly TraceEvent[] }

function collect(traces: readonly Trace[], options: ProfileOptions = {}, batchSize = 4096): Profile {
  const collector = new ProfileCollector(options)
  for (const { header, events } of traces)
    for (const batch of inBatches(events, batchSize, header)) collector.add(batch)
  return collector.finish()
}

const profileOf = (events: readonly TraceEvent[], options: ProfileOptions = {}) =>
  collect([{ header: HEADER, events }], options)

/** The frames of a sample's stack as text, the outermost first. */
function stackOf({ frames, tree }: Profile, { node }: Sample): string[] {
  const texts: string[] = []
  for (let at = node; at > 0; at = tree.parents[at]!) texts.unshift(frameText(frames[tree.frames[at]!]!))
  return texts
}

/** What the profile has to call a site. */
function framesOf(site: Site): string[] {
  if (site.rest !== undefined) return [site.rest === 'none' ? '[unknown]' : '[others]']
  if (site.stack !== undefined) return site.stack.map((text) => frameText(frameOf(text))).toReversed()
  if (site.callSite !== undefined || site.module !== undefined)
    return [frameText(addressFrame(site.module, site.callSite))]
  return [frameText(sourceFrame(site.function, site.file, site.line))]
}

const add = (a: Amount, b: Amount): Amount => ({ blocks: a.blocks + b.blocks, bytes: a.bytes + b.bytes })

/** Figures by stack, those of stacks that look alike added up. */
function byStack<T>(
  all: readonly T[],
  stack: (one: T) => string[],
  figure: (one: T) => Amount,
): Record<string, Amount> {
  const sums: Record<string, Amount> = {}
  for (const one of all) {
    const amount = figure(one)
    const key = stack(one).join(';')
    if (amount.blocks > 0) sums[key] = add(sums[key] ?? { blocks: 0, bytes: 0n }, amount)
  }
  return sums
}

const some = (traces: readonly Trace[]): Trace[] =>
  traces.filter(({ events }) => events.length > 0).map(({ header, events }) => ({ header: { ...header }, events }))

describe('ProfileCollector', () => {
  it('has the figures of plain arithmetic for each stack, and those of the statistics in all', () => {
    fc.assert(
      fc.property(anyTraces, fc.boolean(), fc.integer({ min: 1, max: 50 }), (all, threadRoot, batchSize) => {
        const traces = some(all)
        const { sites, ...expected } = statisticsOf(traces)
        const profile = collect(traces, { threadRoot }, batchSize)
        const { statistics } = profile
        const samples = [...profile.samples()]
        expect(statistics.allocated).toEqual(expected.allocated)
        const stack = (sample: Sample) => stackOf(profile, sample).slice(threadRoot ? 1 : 0)
        for (const figure of ['allocated', 'atPeak', 'leaked'] as const) {
          expect(byStack(samples, stack, (one) => one[figure])).toEqual(byStack(sites, framesOf, (one) => one[figure]))
        }
        expect(byStack(samples, stack, (one) => one.live)).toEqual(byStack(sites, framesOf, (one) => one.leaked))
        expect(byStack(samples, stack, (one) => one.temporary.heaptrack)).toEqual(
          byStack(sites, framesOf, (one) => one.temporary.heaptrack),
        )
        const sum = (values: readonly (number | bigint)[]) => values.reduce<bigint>((a, b) => a + BigInt(b), 0n)
        expect(sum(samples.map((one) => one.lived.events))).toBe(sum(sites.map((one) => one.lived.events)))
        expect(sum(samples.map((one) => VALUES['foreign-frees'].of(one, 'heaptrack')))).toBe(
          sum(sites.map((one) => one.foreignFrees)),
        )
        expect(sum(samples.map((one) => VALUES['allocated-bytes'].of(one, 'heaptrack')))).toBe(expected.allocated.bytes)
        if (!threadRoot) return
        const thread = (sample: Sample) => [stackOf(profile, sample)[0]!.replace(/^\[no thread\]$/, 'none')]
        expect(byStack(samples, thread, (one) => one.atPeak)).toEqual(
          byStack(
            expected.threads,
            ({ rest, process, thread: id }) => [
              rest ??
                Object.entries({ process, thread: id })
                  .flatMap(([what, n]) => (n === undefined ? [] : [`${what} ${BigInt.asIntN(64, n)}`]))
                  .join(', '),
            ],
            (one) => one.atPeak,
          ),
        )
      }),
      { numRuns: runs(300) },
    )
  })

  it('a block belongs to the thread that resized it last, and keeps its site', () => {
    const events: TraceEvent[] = [
      { kind: 'alloc', thread: 1n, address: 16n, size: 8n, function: 'f' },
      { kind: 'realloc', thread: 2n, oldAddress: 16n, address: 16n, size: 9n },
      { kind: 'alloc', thread: 1n, address: 64n, size: 8n },
      { kind: 'realloc', thread: 2n, oldAddress: 64n, address: 32n, size: 10n },
    ]
    const profile = collect([{ header: { format: 'mtrc' }, events }], { threadRoot: true }, 1)
    const live = byStack(
      [...profile.samples()],
      (sample) => stackOf(profile, sample),
      (one) => one.live,
    )
    expect(live).toMatchObject({ 'thread 2;f': { bytes: 9n } })
    expect(Object.values(live).reduce((sum, { bytes }) => sum + bytes, 0n)).toBe(19n)
    expect(Object.keys(live).every((stack) => stack.startsWith('thread 2'))).toBe(true)
  })

  it('roots are called what their threads are called last', () => {
    const events: TraceEvent[] = [
      { kind: 'comment', thread: 2n, text: 'thread first' },
      { kind: 'alloc', thread: 2n, address: 16n, size: 8n, function: 'f' },
      { kind: 'comment', thread: 2n, text: 'thread worker' },
    ]
    const roots = (format: string) => {
      const profile = collect([{ header: { format }, events }], { threadRoot: true }, 1)
      return Object.keys(
        byStack(
          [...profile.samples()],
          (sample) => stackOf(profile, sample),
          (one) => one.live,
        ),
      )
    }
    expect(roots('recorder')).toEqual(['thread 2 (worker);f'])
    expect(roots('mtrc')).toEqual(['thread 2;f'])
  })

  it('has the live set after any event, or at any time', () => {
    fc.assert(
      fc.property(anyTraces, fc.nat({ max: 200 }), fc.integer({ min: 1, max: 50 }), (all, choice, batchSize) => {
        const traces = some(all).slice(0, 1)
        const [trace] = traces
        if (trace === undefined) return
        const event = 1 + (choice % trace.events.length)
        const liveAt = (count: number) =>
          byStack(
            statisticsOf([{ header: trace.header, events: trace.events.slice(0, count) }]).sites,
            framesOf,
            (one) => one.leaked,
          )
        const liveBy = (at: ProfileMoment) => {
          const profile = collect(traces, { at }, batchSize)
          return byStack(
            [...profile.samples()],
            (one) => stackOf(profile, one),
            (one) => one.live,
          )
        }
        expect(liveBy({ event })).toEqual(liveAt(event))
        const { time } = trace.events[event - 1]!
        if (time === undefined) return
        const later = trace.events.findIndex((one) => one.time !== undefined && one.time > time)
        expect(liveBy({ time })).toEqual(liveAt(later < 0 ? trace.events.length : later))
      }),
      { numRuns: runs(200) },
    )
  })

  const alloc = (address: number, size: number, more: object = {}): TraceEvent => ({
    kind: 'alloc',
    address: BigInt(address),
    size: BigInt(size),
    ...more,
  })

  test('frames that stacks share are one node, and the innermost is the last', () => {
    const profile = profileOf([
      alloc(16, 1, { stack: ['malloc', 'parse (p.c:3)', 'main'] }),
      alloc(32, 2, { stack: ['malloc', 'read', 'main'] }),
      alloc(48, 4, { stack: ['main'] }),
      alloc(64, 8, { function: 'parse', file: 'p.c', line: 3 }),
      alloc(80, 16, { callSite: 0xffn }),
      alloc(96, 32),
    ])
    expect([...profile.samples()].map((one) => [stackOf(profile, one).join(';'), one.live.bytes])).toEqual([
      ['[unknown]', 32n],
      ['main;parse (p.c:3);malloc', 1n],
      ['main;read;malloc', 2n],
      ['main', 4n],
      ['parse (p.c:3)', 8n],
      ['0xff', 16n],
    ])
    // The root; main, parse, malloc, read, malloc below main; parse alone; the call site; the unknown one.
    expect(profile.tree.parents).toHaveLength(9)
    expect(profile.frames).toHaveLength(6)
  })

  test('stacks beyond the limit are others, and nothing is lost', () => {
    const events = Array.from({ length: 100 }, (_, i) => alloc(16 * (i + 1), 1, { stack: [`f${i}`, 'main'] }))
    const profile = profileOf(events, { stacks: 10 })
    const samples = [...profile.samples()].map((one) => [stackOf(profile, one).join(';'), one.live.blocks])
    expect(samples).toHaveLength(11)
    expect(samples[0]).toEqual(['[others]', 90])
    expect(profile.statistics.full).toEqual(['sites'])
  })

  test('of very deep stacks the innermost frames are kept', () => {
    const profile = profileOf([alloc(16, 1, { stack: Array.from({ length: 5000 }, (_, i) => `f${i}`) })])
    const [stack] = [...profile.samples()].map((one) => stackOf(profile, one))
    expect(stack).toHaveLength(1001)
    expect([stack?.[0], stack?.[1], stack?.at(-1)]).toEqual(['[outer frames left out]', 'f999', 'f0'])
  })

  test.each([
    [{ at: { event: 3 } }, /there is no event 3: there are 2/],
    [{ at: { time: 5n } }, /no event has a time/],
  ])('a moment that the trace does not have: %o', (options, message) => {
    expect(() => profileOf([alloc(16, 1), alloc(32, 1)], options)).toThrow(message)
  })

  test.each([{ at: 'now' }, { at: { event: 0 } }, { stacks: 0 }, { stacks: 1e9 }, { threads: true }])(
    'refuses %o',
    (options) => {
      expect(() => new ProfileCollector(options as ProfileOptions)).toThrow(RangeError)
    },
  )
})

describe('stacksOf', () => {
  it('gives stacks for which the tree has no room one node, so that no figure is lost', () => {
    const collector = new StatisticsCollector({ sites: 1000, byThread: true })
    const events = Array.from({ length: 60 }, (_, i): TraceEvent => ({
      kind: 'alloc',
      thread: BigInt(i % 3),
      address: BigInt(16 * i + 16),
      size: 1n,
      stack: [`inner${i % 20}`, 'main'],
    }))
    for (const batch of inBatches(events, 4096, HEADER)) collector.add(batch)
    const { sites, threads } = collector
    const { isFull, tree, frames, rows } = stacksOf(sites, threads, 8)
    const all = [...rows()]
    expect(isFull).toBe(true)
    expect(all).toHaveLength(60)
    expect(all.every(({ node }) => node > 0 && node < tree.parents.length)).toBe(true)
    const others = all.filter(({ node }) => frames[tree.frames[node]!]!.name === '[others]')
    expect(others.length).toBeGreaterThan(50)
    expect(tree.parents.length).toBe(9)
    expect(stacksOf(sites, threads).isFull).toBe(false)
  })
})

describe('frames', () => {
  test.each([
    ['parse (parse.c:12)', { name: 'parse', file: 'parse.c', line: 12 }],
    ['operator() (x.cpp:7)', { name: 'operator()', file: 'x.cpp', line: 7 }],
    ['f(int)', { name: 'f(int)' }],
    ['f (in /lib/x.so)', { name: 'f (in /lib/x.so)' }],
    ['f (a.c:0)', { name: 'f (a.c:0)' }],
    ['(a.c:1)', { name: '(a.c:1)' }],
    ['f (:1)', { name: 'f (:1)' }],
    ['parse at parse.c:12 in /usr/bin/x [0x10]', { name: 'parse', file: 'parse.c', line: 12, module: '/usr/bin/x' }],
    ['next at a.h:7 inlined', { name: 'next', file: 'a.h', line: 7 }],
    ['main in /usr/bin/x [0x10]', { name: 'main', module: '/usr/bin/x' }],
    ['main [0x10]', { name: 'main [0x10]' }],
    ['"at x"', { name: 'at x' }],
    ['"\\"q\\"" [0x10]', { name: '"q" [0x10]' }],
    ['"q', { name: '"q' }],
    [
      'in /usr/bin/x+0x1f0 [0x55d0]',
      { name: '/usr/bin/x+0x1f0', module: '/usr/bin/x', address: 0x1f0n, isOffset: true },
    ],
    ['at a.c:0 in /usr/bin/x [0x10]', { name: '/usr/bin/x [0x10]', module: '/usr/bin/x', address: 0x10n }],
    ['at a.c:3', { name: 'a.c:3', file: 'a.c', line: 3 }],
    ['[0x55d0]', { name: '0x55d0', address: 0x55d0n }],
    ['', { name: '[unknown]' }],
    ['a\udcffb', { name: 'a\\xffb' }],
    ['a\ud800b', { name: 'a\ufffdb' }],
  ] as const)('of %j', (text, frame) => {
    expect(frameOf(text)).toEqual(frame)
  })

  test('long names are cut', () => {
    const { name } = frameOf('x'.repeat(1 << 20))
    expect(name.length).toBeLessThan(5000)
    expect(name).toMatch(/\[and 1044480 more, [0-9a-f]{8}\]$/)
    // Those that differ only in what is cut stay apart.
    const names = ['a', 'b', 'aa'].map((end) => frameOf('x'.repeat(5000) + end).name)
    expect(new Set(names).size).toBe(3)
  })
})
