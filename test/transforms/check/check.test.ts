import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/trace-event.js'
import { check } from '../../../lib/transforms/check/check.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { HEADER, inBatches } from '../events.js'
import type { Measured } from '../../../lib/transforms/check/measure.js'
import { CheckCollector } from '../../../lib/transforms/check/measure.js'
import { budgets, measured, runOf, type Change } from './program.js'

/** The result for some runs. */
function checked(
  runs: readonly (readonly TraceEvent[])[],
  baseline: readonly (readonly TraceEvent[])[],
  groups: object[],
) {
  const all = budgets(...groups)
  const of = (some: readonly (readonly TraceEvent[])[]) => some.map((events) => measured(events, all))
  return check(of(runs), of(baseline), all)
}

const RUN = runOf(1)

describe('budgets', () => {
  const statistics = (() => {
    const collector = new StatisticsCollector()
    for (const batch of inBatches(RUN, 4096, HEADER)) collector.add(batch)
    return collector.finish()
  })()

  test('have the figures of the statistics, and hold up to these exactly', { tags: ['slow'] }, () => {
    const { peakBytes, peakBlocks, allocated, leaked, temporary } = statistics
    const figures = {
      peak: peakBytes.bytes,
      blocks: BigInt(peakBlocks.blocks),
      allocated: allocated.bytes,
      allocations: BigInt(allocated.blocks),
      leaked: leaked.bytes,
      'leaked-blocks': BigInt(leaked.blocks),
      temporary: BigInt(temporary.heaptrack.blocks),
      'double-frees': 0n,
      'unknown-frees': 0n,
      overlaps: 0n,
      'failed-allocations': 0n,
    }
    for (const [figure, value] of Object.entries(figures)) {
      const { verdict, budgets: rows } = checked([RUN], [], [{ max: { [figure]: String(value) } }])
      expect([figure, rows[0]?.value, verdict]).toEqual([figure, value, 'within'])
      if (value === 0n) continue
      const beyond = checked([RUN], [], [{ max: { [figure]: String(value - 1n) } }])
      expect([figure, beyond.verdict, beyond.budgets[0]?.most]).toEqual([figure, 'beyond', value - 1n])
      expect(beyond.budgets[0]?.sites?.length).toBeGreaterThan(0)
    }
  })

  test('count faults', () => {
    const events: TraceEvent[] = [
      { kind: 'alloc', address: 16n, size: 8n, api: 'malloc' },
      { kind: 'free', address: 16n, api: 'delete' },
      { kind: 'free', address: 16n, api: 'free' },
      { kind: 'free', address: 32n, api: 'free' },
      { kind: 'alloc', address: 48n, size: 8n },
      { kind: 'alloc', address: 48n, size: 8n },
      { kind: 'alloc', size: 8n },
    ]
    const names = ['double-frees', 'unknown-frees', 'overlaps', 'mismatches', 'failed-allocations']
    const { budgets: rows } = checked([events], [], [{ max: Object.fromEntries(names.map((name) => [name, 0])) }])
    expect(rows.map(({ figure, verdict, value }) => [figure, verdict, value])).toEqual(
      names.map((name) => [name, 'beyond', 1n]),
    )
  })

  test('count reallocs that failed, too', () => {
    const events: TraceEvent[] = [
      { kind: 'alloc', address: 16n, size: 8n },
      { kind: 'realloc', oldAddress: 16n, size: 2n ** 60n },
      { kind: 'alloc', size: 2n ** 62n },
    ]
    expect(checked([events], [], [{ max: { 'failed-allocations': 0 } }]).budgets[0]).toMatchObject({
      verdict: 'beyond',
      value: 2n,
    })
  })

  test.each([
    ['recorder', { api: 'malloc' }, 'failed-allocations', 'recorder do not have calls that failed'],
    ['heaptrack', {}, 'failed-allocations', 'heaptrack do not have calls that failed'],
    ['mtrc', {}, 'failed-allocations', 'mtrc do not have calls that failed'],
    ['recorder', { api: 'malloc' }, 'mismatches', 'recorder do not have whether the program called malloc or new'],
    ['replay', { api: 'malloc' }, 'mismatches', 'replay do not have whether the program called malloc or new'],
    ['heapmon', { api: 'new' }, 'mismatches', 'heapmon do not have whether the program called malloc or new'],
    ['hatf', {}, 'mismatches', 'no event names the function that was called'],
    ['heaptrack', {}, 'double-frees', 'the trace does not say which block is freed'],
    ['heaptrack', {}, 'unknown-frees', 'the trace does not say which block is freed'],
    ['heaptrack', {}, 'overlaps', 'the trace does not say which block is freed'],
  ] as const)('of what traces of %s with %j do not show are not known: %s', (format, more, figure, reason) => {
    const collector = new CheckCollector([], 'x')
    const events: TraceEvent[] = [{ kind: 'alloc', address: 16n, size: 8n, ...more }]
    for (const batch of inBatches(events, 1, { format })) collector.add(batch)
    expect(collector.finish().whole[figure]).toEqual({ unknown: expect.stringContaining(reason) as string })
  })

  test.each([
    ['valgrind', 'failed-allocations'],
    ['valgrind', 'mismatches'],
    ['glibc-mtrace', 'failed-allocations'],
    ['recorder', 'double-frees'],
  ] as const)('of what traces of %s show are known: %s', (format, figure) => {
    const collector = new CheckCollector([], 'x')
    const events: TraceEvent[] = [{ kind: 'alloc', api: 'malloc', address: 16n, size: 8n }]
    for (const batch of inBatches(events, 1, { format })) collector.add(batch)
    expect(collector.finish().whole[figure]).toEqual({ value: 0n })
  })

  test('are shares of the allocations', () => {
    const { temporary, allocated } = statistics
    const share = (100 * temporary.heaptrack.blocks) / allocated.blocks
    const verdictOf = (percent: number) =>
      checked([RUN], [], [{ max: { temporary: `${percent.toFixed(3)}%` } }]).verdict
    expect([verdictOf(share + 0.01), verdictOf(share - 0.01)]).toEqual(['within', 'beyond'])
  })

  test('without sites name sizes', () => {
    const events: TraceEvent[] = [{ kind: 'alloc', address: 16n, size: 24n }]
    const [row] = checked([events], [], [{ max: { leaked: 0 } }]).budgets
    expect(row?.sites).toEqual([{ stack: ['24 bytes'], new: { blocks: 1, bytes: 24n } }])
  })

  test('of 0 bytes leaked are exceeded by a block of no bytes', () => {
    const events: TraceEvent[] = [{ kind: 'alloc', address: 16n, size: 0n }]
    expect(checked([events], [], [{ max: { leaked: 0 } }]).budgets.map(({ verdict }) => verdict)).toEqual([
      'within',
      'beyond',
    ])
  })

  test('that say the same again are one', () => {
    const events: TraceEvent[] = [{ kind: 'alloc', address: 16n, size: 24n }]
    const { budgets } = checked([events], [], [{ max: { leaked: 0, 'leaked-blocks': 0 } }])
    expect(budgets.map(({ figure }) => figure)).toEqual(['leaked', 'leaked-blocks'])
    const others = checked([events], [], [{ max: { leaked: 0, 'leaked-blocks': 1 } }])
    expect(others.budgets.map(({ verdict }) => verdict)).toEqual(['beyond', 'beyond', 'within'])
  })

  test('hold for each of several runs', () => {
    const runs = [1, 2, 3].map((seed) => runOf(seed, seed === 2 ? { leaks: 1 } : {}))
    const [row] = checked(runs, [], [{ max: { 'leaked-blocks': 3 } }]).budgets
    expect([row?.verdict, row?.value, row?.values]).toEqual(['beyond', 4n, [3n, 4n, 3n]])
  })
})

describe('functions', () => {
  /** The statistics of the blocks alone that some events allocate. */
  function alone(isOne: (event: TraceEvent) => boolean) {
    const own = new Set(RUN.filter((event) => event.kind === 'alloc' && isOne(event)).map(({ address }) => address))
    const collector = new StatisticsCollector()
    for (const batch of inBatches(
      RUN.filter(({ address }) => own.has(address)),
      4096,
      HEADER,
    ))
      collector.add(batch)
    return collector.finish()
  }
  const has = (name: string) => (event: TraceEvent) =>
    event.stack?.some((frame) => frame.startsWith(`${name} `)) === true
  const FIGURES = { peak: 0, allocated: 0, allocations: 0, leaked: 1e9, 'leaked-blocks': 1e9 }

  test.each([
    ['parse', has('parse')],
    ['p*', (event: TraceEvent) => has('parse')(event) || has('print')(event)],
    ['*n*d*', has('index')],
    ['run', () => true],
    ['mal*c', () => true],
  ])('at %s: the figures are those of the blocks that they and what they call allocate', (at, isOne) => {
    const { peakBytes, allocated, leaked } = alone(isOne)
    for (const size of [1, 100, 4096]) {
      const all = budgets({ at, max: FIGURES })
      const { budgets: rows } = check([measured(RUN, all, HEADER, size)], [], all)
      expect(rows.map(({ value }) => value)).toEqual([
        peakBytes.bytes,
        allocated.bytes,
        BigInt(allocated.blocks),
        leaked.bytes,
        BigInt(leaked.blocks),
      ])
    }
  })

  test('each: without what they call, and only those that begin rows', () => {
    const { budgets: rows } = checked([RUN], [], [{ each: '*', max: { peak: 0, temporary: 0 } }])
    const peaks = rows.filter(({ figure }) => figure === 'peak')
    expect(Object.fromEntries(peaks.map(({ function: name, value }) => [name, value]))).toEqual(
      Object.fromEntries(['parse', 'index', 'print', 'open'].map((name) => [name, alone(has(name)).peakBytes.bytes])),
    )
    expect(peaks.map(({ value }) => value)).toEqual(peaks.map(({ value }) => value).toSorted((a, b) => Number(b! - a!)))
    for (const { function: name, sites } of peaks) expect(sites?.map(({ stack }) => stack[1])).toEqual([name])
    const temporary = rows.filter(({ figure }) => figure === 'temporary')
    expect(temporary.map(({ function: name }) => name)).toEqual(['print'])
  })

  test('own peaks of stacks with equal names are not added up', () => {
    const events = (first: bigint, second: bigint): TraceEvent[] => [
      { kind: 'alloc', address: 16n, size: first, stack: ['f at a.c:1', 'main at m.c:1'] },
      { kind: 'free', address: 16n },
      { kind: 'alloc', address: 16n, size: second, stack: ['f at a.c:2', 'main at m.c:1'] },
      { kind: 'free', address: 16n },
    ]
    for (const group of [{ at: 'f' }, { each: '*' }]) {
      const [row] = checked([events(100n, 60n)], [], [{ ...group, max: { peak: 1 } }]).budgets
      expect([row?.value, row?.sites]).toEqual([
        100n,
        [{ stack: ['f', 'main'], new: { blocks: 1, bytes: 100n }, file: 'a.c' }],
      ])
      const [grown] = checked([events(100n, 60n)], [events(50n, 50n)], [{ ...group, grow: { peak: 1 } }]).budgets
      expect(grown?.sites).toMatchObject([{ old: { blocks: 1, bytes: 50n }, new: { blocks: 1, bytes: 100n } }])
    }
  })

  test('the own peak of equal names is at least what they have at the peak', () => {
    const events: TraceEvent[] = [1n, 2n, 3n].map((line) => ({
      kind: 'alloc',
      address: 16n * line,
      size: 10n,
      stack: [`f at a.c:${line}`],
    }))
    const [row] = checked([events], [], [{ each: '*', max: { peak: 1 } }]).budgets
    expect(row?.sites).toMatchObject([{ new: { blocks: 3, bytes: 30n } }])
  })

  test('each has one row if all are within', () => {
    const [row, ...others] = checked([RUN], [], [{ each: '*', max: { peak: '1G' } }]).budgets
    expect([row?.verdict, row?.functions, others]).toEqual(['within', 4, []])
  })

  test('a block that another function resizes is of that one', () => {
    const events: TraceEvent[] = [
      { kind: 'alloc', address: 16n, size: 10n, function: 'first' },
      { kind: 'realloc', oldAddress: 16n, address: 64n, size: 30n, function: 'second' },
      { kind: 'realloc', oldAddress: 64n, address: 128n, size: 50n },
    ]
    const { budgets: rows } = checked(
      [events],
      [],
      [
        { at: 'first', max: FIGURES },
        { at: 'second', max: FIGURES },
      ],
    )
    const of = (at: string) => rows.filter((row) => row.at === at).map(({ value }) => value)
    expect(of('first')).toEqual([10n, 10n, 1n, 0n, 0n])
    expect(of('second')).toEqual([50n, 80n, 2n, 50n, 1n])
  })

  test('functions without a name are their module, wherever it was loaded', () => {
    const run = (base: number): TraceEvent[] => [
      { kind: 'alloc', address: 16n, size: 10n, stack: [`in /lib/libx.so [0x${(base + 7).toString(16)}]`] },
    ]
    const groups = [
      { each: '*', grow: { peak: 0 } },
      { at: '*libx*', grow: { peak: 0 } },
    ]
    expect(checked([run(0x7f00_0000_0000)], [run(0x7e00_0000_0000)], groups).verdict).toBe('within')
  })
})

describe('what is not known', () => {
  const reasonOf = (events: readonly TraceEvent[], group: object, header = HEADER) => {
    const all = budgets(group)
    const { verdict, budgets: rows } = check([measured(events, all, header)], [], all)
    expect(verdict).toBe('unknown')
    expect(rows[0]?.value).toBeUndefined()
    return rows[0]?.reason
  }

  test('is not within', { tags: ['slow'] }, () => {
    const heaptrack = { format: 'heaptrack' } as const
    expect(reasonOf(RUN, { max: { temporary: '100%' } }, heaptrack)).toBe('the trace does not say which block is freed')
    expect(reasonOf(RUN, { at: 'print', max: { temporary: 1e9 } }, heaptrack)).toMatch(/which block is freed/)
    expect(reasonOf(RUN, { each: '*', max: { temporary: 1e9 } }, heaptrack)).toMatch(/which block is freed/)
    expect(reasonOf(RUN, { max: { wasted: '100%' } })).toBe('no allocation says how many bytes it took')
    expect(reasonOf([], { max: { peak: '1G' } })).toBe('the trace has no events')
    expect(reasonOf([], { at: 'a', max: { peak: '1G' } })).toBe('the trace has no events')
    expect(reasonOf(RUN, { at: 'pars', max: { peak: '1G' } })).toBe('no function of the trace matches "pars"')
    expect(reasonOf([{ kind: 'alloc', address: 16n, size: 8n }], { each: '*', max: { peak: '1G' } })).toMatch(
      /matches "\*"/,
    )
    expect(reasonOf([...RUN, { kind: 'lost' }], { max: { peak: '1G' } })).toMatch(/the recorder lost events in 1 place/)
    const sampled: TraceEvent[] = [...RUN, { kind: 'alloc', address: 1n, size: 1n, weight: 1000n }]
    for (const figure of ['peak', 'blocks', 'allocated', 'allocations', 'leaked', 'leaked-blocks', 'temporary'])
      expect(reasonOf(sampled, { max: { [figure]: '1G' } })).toMatch(/^the trace is sampled: 1 event has a weight/)
    expect(reasonOf(sampled, { at: 'print', max: { peak: '1G' } })).toMatch(/^the trace is sampled/)
    const early = [...RUN, { kind: 'other', code: 69 } as const]
    const recorder = { ...HEADER, format: 'recorder' } as const
    for (const figure of ['leaked', 'leaked-blocks'])
      expect(reasonOf(early, { max: { [figure]: '1G' } }, recorder)).toMatch(/ended while the program ran on/)
    const peak = budgets({ max: { peak: '1G' } })
    expect(check([measured(early, peak, recorder)], [], peak).verdict).toBe('within')
    const filtered = { ...HEADER, filtered: true } as const
    for (const figure of ['peak', 'blocks', 'leaked', 'temporary', 'double-frees'])
      expect(reasonOf(RUN, { max: { [figure]: '1G' } }, filtered)).toMatch(/events were removed/)
  })

  test('does not hide what is beyond', () => {
    const { verdict, budgets: rows } = checked([RUN], [], [{ max: { wasted: 1, peak: 1 } }])
    expect([verdict, rows.map((row) => row.verdict)]).toEqual(['beyond', ['unknown', 'beyond']])
  })

  test('what a filter leaves is known', () => {
    const all = budgets({ max: { allocations: 1 } })
    expect(check([measured(RUN, all, { ...HEADER, filtered: true })], [], all).verdict).toBe('beyond')
  })

  test('nothing is known of no runs, and no growth without a baseline', () => {
    expect(() => checked([], [], [{ max: { peak: 1 } }])).toThrow('there are no runs')
    expect(() => checked([RUN], [], [{ grow: { peak: 1 } }])).toThrow('needs a baseline')
  })
})

describe('growth', () => {
  const leak = (...sizes: number[]): TraceEvent[] =>
    sizes.map((size, i) => ({ kind: 'alloc', address: BigInt(16 * i + 16), size: BigInt(size), function: `f${i}` }))
  const one = (runs: number[], baseline: number[], limit: string) =>
    checked(
      runs.map((size) => leak(size)),
      baseline.map((size) => leak(size)),
      [{ grow: { peak: limit } }],
    ).budgets[0]

  test.each([
    [[105], [100], '5%', 'within', 105n],
    [[106], [100], '5%', 'beyond', 105n],
    [[106], [100], '5%+1', 'within', 106n],
    [[100], [101], '0', 'within', 101n],
    [[101], [100], '0', 'beyond', 100n],
    [[102], [101], '0.9%', 'beyond', 101n],
    // Medians: of an even number, the lower one in the middle.
    [[110, 100, 111], [100, 99, 101], '5%', 'within', 105n],
    [[110, 107, 111], [100, 99, 101], '5%', 'beyond', 105n],
    [[110, 107], [100, 99], '5%', 'beyond', 103n],
    // All runs must be above all of the baseline.
    [[110, 107, 111], [100, 99, 107], '5%', 'within', 105n],
    [[110, 108, 111], [100, 99, 107], '5%', 'beyond', 105n],
  ])('%j after %j with %s is %s', (runs, baseline, limit, verdict, most) => {
    const row = one(runs, baseline, limit)
    expect([row?.verdict, row?.most]).toEqual([verdict, most])
  })

  test('is noise where the runs overlap', () => {
    expect(one([110, 107, 111], [100, 99, 107], '5%')?.isNoise).toBe(true)
    expect(one([101, 102, 103], [100, 99, 107], '5%')?.isNoise).toBeUndefined()
  })

  test('names the sites by what changed', () => {
    const [row] = checked([leak(100, 50, 7)], [leak(100, 20)], [{ grow: { peak: 0 } }]).budgets
    expect(row?.sites).toEqual([
      { stack: ['f1'], old: { blocks: 1, bytes: 20n }, new: { blocks: 1, bytes: 50n } },
      { stack: ['f2'], old: { blocks: 0, bytes: 0n }, new: { blocks: 1, bytes: 7n } },
    ])
  })

  test('of functions that come and go', () => {
    const groups = [
      { at: 'f1', grow: { peak: 0 } },
      { each: 'f*', grow: { peak: 0 } },
    ]
    expect(checked([leak(1)], [leak(1, 2)], groups).verdict).toBe('within')
    const { budgets: rows } = checked([leak(1, 2)], [leak(1)], groups)
    expect(rows.map(({ verdict, function: name }) => [verdict, name])).toEqual([
      ['beyond', undefined],
      ['beyond', 'f1'],
    ])
  })
})

describe('20 pairs of noisy runs', { tags: ['slow'] }, () => {
  const GROUPS = [
    {
      grow: {
        peak: '1%',
        blocks: '1%',
        allocated: '1%',
        allocations: '1%',
        leaked: 0,
        temporary: '3%',
        'double-frees': 0,
      },
    },
    { each: '*', grow: { peak: '2%', allocations: '3%', leaked: 0 } },
    { at: 'index', grow: { peak: '1%' } },
  ]
  const all = budgets(...GROUPS)
  const RUNS = 5
  const runs = (first: number, change?: Change) =>
    Array.from({ length: RUNS }, (_, i) => measured(runOf(first + i, change), all, HEADER, 4096))
  const PAIRS = Array.from({ length: 20 }, (_, pair) => 1000 * pair)
  const baselines = new Map<number, Measured[]>()
  const baselineOf = (pair: number) => {
    const known = baselines.get(pair) ?? runs(pair + 1)
    baselines.set(pair, known)
    return known
  }
  const of = (pair: number, change?: Change) =>
    check(runs(pair + 500, change), baselineOf(pair), all).budgets.filter(({ verdict }) => verdict !== 'within')

  test('without a change give no alarm, though single runs would', () => {
    const results = PAIRS.map((pair) => check(runs(pair + 500), baselineOf(pair), all))
    expect(results.map(({ verdict }) => verdict)).toEqual(PAIRS.map(() => 'within'))
    const single = PAIRS.map(
      (pair) => check([measured(runOf(pair + 500), all)], baselineOf(pair).slice(0, 1), all).verdict,
    )
    expect(single).toContain('beyond')
    expect(results.some(({ budgets: rows }) => rows.some(({ isNoise }) => isNoise))).toBe(true)
  })

  test('with 5 % more peak in one function name that function', () => {
    for (const pair of PAIRS.slice(0, 10)) {
      const rows = of(pair, { parse: 1.05 })
      const row = rows.find(({ each, figure }) => each === '*' && figure === 'peak')
      expect([pair, row?.function, row?.sites?.map(({ stack }) => stack[1])]).toEqual([pair, 'parse', ['parse']])
      expect(rows.filter(({ each }) => each !== undefined)).toEqual([row])
    }
  })

  test('with one leaked block name its site', () => {
    for (const pair of PAIRS.slice(0, 10)) {
      const rows = of(pair, { leaks: 1 })
      const whole = rows.filter(({ each, figure }) => each === undefined && figure.startsWith('leaked'))
      expect([pair, whole.map(({ value, old }) => [value, old])]).toEqual([
        pair,
        [
          [324n, 300n],
          [4n, 3n],
        ],
      ])
      expect(
        whole.map(({ sites }) => sites?.map(({ stack, old, new: now }) => [stack[1], old?.blocks, now.blocks])),
      ).toEqual([[['open', 3, 4]], [['open', 3, 4]]])
    }
  })

  test('with 10 % more temporary allocations name their site', () => {
    for (const pair of PAIRS.slice(0, 10)) {
      const row = of(pair, { temporary: 1.1 }).find(({ figure }) => figure === 'temporary')
      expect([pair, row?.verdict, row?.sites?.map(({ stack }) => stack[1])]).toEqual([pair, 'beyond', ['print']])
    }
  })
})
