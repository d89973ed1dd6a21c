import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BATCH_EVENTS, EventBatch, batchesOf, type TraceEvent } from '../../lib/event/batch.js'
import { APIS, KINDS } from '../../lib/event/fields.js'
import type { TraceHeader } from '../../lib/event/header.js'
import { Filter, type FilterOptions } from '../../lib/transforms/filter.js'
import { Repair } from '../../lib/transforms/repair/repair.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import type { Statistics } from '../../lib/transforms/statistics/result.js'
import { drive } from '../support/drive.js'
import { runs } from '../support/runs.js'
import { HATF, HEADER, anyEvent, blockEvents, eventsOf, inBatches, spacedEvents } from './events.js'
import { keepWhole, keeps } from './oracle.js'

function filtered(
  options: FilterOptions,
  events: readonly TraceEvent[],
  size = BATCH_EVENTS,
  header = HEADER,
): TraceEvent[] {
  const { out, error } = drive(new Filter(options), inBatches(events, size, header))
  expect(error).toBeUndefined()
  return eventsOf(out)
}

function statisticsOf(batches: readonly EventBatch[]): Statistics {
  const collector = new StatisticsCollector()
  for (const batch of batches) collector.add(batch)
  return collector.finish()
}

const someOf = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof(arbitrary, fc.array(arbitrary, { maxLength: 3 }))
const number = fc.oneof(fc.bigInt({ min: 0n, max: 5n }), fc.nat({ max: 5 }), fc.constantFrom(2n ** 32n, 2n ** 64n - 1n))
const bound = fc.oneof(
  fc.bigInt({ min: 0n, max: 6n }),
  fc.constantFrom(0x1000n, 0x1005n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 63n, 2n ** 64n - 1n),
)
const range = fc.oneof(
  fc.tuple(bound, bound).map(([a, b]) => (a < b ? { from: a, to: b } : { from: b, to: a })),
  bound.map((from) => ({ from })),
  bound.map((to) => ({ to })),
  fc.constant({}),
)
const pattern = fc.constantFrom<(string | RegExp)[]>(
  'main',
  '',
  'operator new',
  /a/,
  /^m/g,
  /NEW/i,
  /\udcff/,
  'nowhere',
)
const criteria: fc.Arbitrary<FilterOptions> = fc.record(
  {
    thread: someOf(number),
    process: someOf(fc.oneof({ weight: 4, arbitrary: number }, { weight: 1, arbitrary: fc.constant('none' as const) })),
    heap: someOf(number),
    cpu: someOf(fc.integer({ min: -2, max: 2 })),
    kind: someOf(fc.constantFrom(...KINDS)),
    api: someOf(fc.constantFrom(...APIS)),
    size: someOf(range),
    address: someOf(range),
    time: someOf(range),
    events: someOf(range),
    function: someOf(pattern),
    file: someOf(pattern),
    module: someOf(pattern),
    type: someOf(pattern),
    stack: someOf(pattern),
    weight: someOf(range),
    device: someOf(fc.integer({ min: -2, max: 2 })),
    stream: someOf(range),
    arena: someOf(pattern),
  },
  { requiredKeys: [] },
)

describe('Filter', () => {
  it('keeps what meets all criteria, as a test of each event by itself does', () => {
    const lists = fc.array(anyEvent, { maxLength: 40 })
    const sizes = fc.integer({ min: 1, max: 50 })
    const some = fc
      .tuple(criteria, fc.nat(17))
      .map(([all, from]) => Object.fromEntries(Object.entries(all).slice(from, from + 2)) as FilterOptions)
    fc.assert(
      fc.property(fc.oneof(some, criteria), lists, fc.boolean(), sizes, (options, events, invert, size) => {
        const expected = events.filter((event, i) => keeps(event, i + 1, { ...options, invert }))
        expect(filtered({ ...options, invert }, events, size)).toEqual(expected)
      }),
      { numRuns: runs(400) },
    )
  })

  it('keeps everything without criteria, and nothing when that is inverted', () => {
    const events: TraceEvent[] = [{ kind: 'alloc' }, { kind: 'comment', text: 'x' }]
    expect(filtered({}, events)).toEqual(events)
    expect(filtered({ invert: true }, events)).toEqual([])
    expect(filtered({ thread: [] }, events)).toEqual([])
  })

  it('finds functions in the texts of frames, whatever else these say', () => {
    const frames = ['next at a.h:7 inlined', 'main(int) at a.c:12 in /usr/bin/x [0x55d0]', 'in /lib/y.so+0x10 [0x7f10]']
    const events: TraceEvent[] = [{ kind: 'alloc', stack: frames }]
    for (const stack of ['next', 'main(int)', frames[2], /^main\(int\)$/, /y\.so/, /a\.c:12/])
      expect(filtered({ stack }, events)).toEqual(events)
    for (const stack of ['main', 'a.c', /^a\.c/]) expect(filtered({ stack }, events)).toEqual([])
  })

  it('never matches an absent field, also where another event has it as zero', () => {
    const events: TraceEvent[] = [{ kind: 'free' }, { kind: 'alloc', size: 0n, thread: 0n, function: '' }]
    for (const options of [{ size: {} }, { thread: 0 }, { function: '' }, { function: /^/ }]) {
      expect(filtered(options, events)).toEqual([events[1]])
      expect(filtered({ ...options, invert: true }, events)).toEqual([events[0]])
    }
  })

  it('keeps the event that says that a recording ended before its program, unless a criterion concerns it', () => {
    const end: TraceEvent = { kind: 'other', code: 69 }
    const lost: TraceEvent[] = [
      { kind: 'lost', count: 1n },
      { kind: 'lost', count: 2n },
    ]
    const events: TraceEvent[] = [{ kind: 'alloc', size: 64n }, lost[0]!, end, lost[1]!, { kind: 'other', code: 70 }]
    const of = (options: FilterOptions, format = 'recorder') => {
      const filter = new Filter(options)
      const { out } = drive(filter, inBatches(events, BATCH_EVENTS, { format }))
      return { kept: eventsOf(out), warnings: filter.warnings }
    }
    expect(of({ size: { from: 65n } }).kept).toEqual([lost[0], end, lost[1]])
    expect(of({ size: { from: 65n }, invert: true }).kept).toEqual([events[0], lost[0], end, lost[1], events[4]])
    expect(of({ size: { from: 65n }, lifetimes: true }).kept).toEqual([lost[0], end, lost[1]])
    expect(of({ events: { to: 3n } }).kept).toEqual([events[0], lost[0], end])
    // Codes are those of the format.
    expect(of({ size: { from: 65n } }, 'mtrc').kept).toEqual(lost)
    const { kept, warnings } = of({ kind: 'alloc' })
    expect(kept).toEqual([events[0]])
    expect(warnings).toEqual([
      expect.stringContaining('lost events in 2 places'),
      expect.stringMatching(/^the recording ended while the program ran on, .*: kind other keeps it$/),
    ])
    expect(of({ kind: ['alloc', 'lost'], lifetimes: true }).warnings).toHaveLength(1)
    expect(of({ kind: ['alloc', 'lost', 'other'] }).warnings).toEqual([])
  })

  it('keeps events that say that others were lost, unless a criterion concerns them', () => {
    const lost: TraceEvent[] = [
      { kind: 'lost', count: 3n },
      { kind: 'lost', cpu: 1, size: 8n },
    ]
    const events: TraceEvent[] = [{ kind: 'alloc', size: 64n, cpu: 1 }, ...lost, { kind: 'free', address: 1n, cpu: 2 }]
    const of = (options: FilterOptions) => filtered(options, events).filter(({ kind }) => kind === 'lost')
    for (const options of [{ size: { from: 64n } }, { function: 'main' }, { api: 'malloc' }, { cpu: 1 }, { thread: 5 }])
      expect(of(options as FilterOptions)).toEqual(lost)
    expect(of({ size: { from: 64n }, invert: true })).toEqual(lost)
    expect(of({ size: { from: 64n }, lifetimes: true })).toEqual(lost)
    expect(of({ where: ({ kind }) => kind === 'alloc' })).toEqual(lost)
    expect(of({ cpu: 2 })).toEqual([lost[0]])
    expect(of({ cpu: 1, invert: true })).toEqual([lost[0]])
    expect(of({ events: { from: 3n, to: 3n } })).toEqual([lost[1]])
    expect(of({ kind: ['alloc', 'lost'] })).toEqual(lost)
    expect(of({ kind: 'lost', invert: true })).toEqual([])
    for (const options of [{ kind: 'alloc' }, { kind: 'alloc', cpu: 1 }, { kind: 'alloc', lifetimes: true }]) {
      const filter = new Filter(options as FilterOptions)
      expect(eventsOf(drive(filter, inBatches(events, 2, HEADER)).out)).toEqual([events[0]])
      expect(filter.warnings).toEqual([
        'the recorder lost events in 2 places, which kind left out: kind lost keeps them',
      ])
    }
    const inverted = new Filter({ kind: 'lost', invert: true })
    drive(inverted, inBatches(events, 2, HEADER))
    expect(inverted.warnings).toEqual([])
  })

  it('takes negative ids modulo 2^64', () => {
    const events: TraceEvent[] = [
      { kind: 'free', thread: 2n ** 64n - 1n },
      { kind: 'free', thread: 1n },
    ]
    expect(filtered({ thread: -1 }, events)).toEqual([events[0]])
  })

  it('tests an expression with state from the start each time', () => {
    const events: TraceEvent[] = ['aa', 'ab', 'ac', 'b'].map((name) => ({ kind: 'alloc', function: name }))
    const expression = /a/g
    expression.lastIndex = 7
    expect(filtered({ function: expression }, events)).toHaveLength(3)
    expect(expression.lastIndex).toBe(7)
  })

  it('refuses options that there are not, and ranges that are none', () => {
    const wrong = [
      { threads: [1] },
      { lifetime: true },
      { size: '16K..' },
      { size: 100 },
      { size: [16_384, Infinity] },
      { size: { from: 16_384 } },
      { events: '1..3' },
      { size: null },
    ]
    for (const options of wrong) expect(() => new Filter(options as object)).toThrow(RangeError)
    expect(() => new Filter({ size: undefined, kind: 'alloc' } as FilterOptions)).not.toThrow()
  })

  it('counts events over batches', () => {
    const events = Array.from({ length: 10 }, (_, i): TraceEvent => ({ kind: 'alloc', size: BigInt(i) }))
    const kept = filtered({ events: [{ from: 3n, to: 5n }, { from: 9n }] }, events, 4)
    expect(kept.map(({ size }) => size)).toEqual([2n, 3n, 4n, 8n, 9n])
  })

  it.each<[FilterOptions, string]>([
    [{ kind: 'allocs' as 'alloc' }, 'no such kind of event: "allocs"'],
    [{ api: ['malloc', 'xmalloc' as 'malloc'] }, 'no such allocation function: "xmalloc"'],
    [{ thread: 1.5 }, 'not an exact integer: 1.5'],
    [{ thread: 2 ** 53 }, 'not an exact integer'],
    [{ heap: 2n ** 64n }, 'not an integer of 64 bits'],
    [{ cpu: 2 ** 31 }, 'not an integer of 32 bits'],
    [{ size: { from: 2n, to: 1n } }, 'an empty range: 2..1'],
    [{ events: { from: 0n, to: 0n } }, 'no event has the number 0'],
  ])('refuses %o', (options, message) => expect(() => new Filter(options)).toThrow(message))

  describe('batches', () => {
    const one = (event: TraceEvent, header: TraceHeader) => inBatches([event], 1, header)[0]

    it('are passed on as they are when all events are kept, and dropped when none are', () => {
      const [first, second] = [one({ kind: 'alloc' }, HEADER), one({ kind: 'free' }, HEADER)]
      const third = one({ kind: 'alloc', thread: 1n }, HEADER)
      expect(drive(new Filter({ kind: ['alloc', 'free'], lifetimes: true }), [first, third]).out).toEqual([
        first,
        third,
      ])
      expect(drive(new Filter({ kind: 'alloc', lifetimes: true }), [first, second, second]).out).toEqual([first])
    })

    it('always bring their header, if need be without events', () => {
      const headers = [HEADER, { format: 'second' }]
      const input = headers.flatMap((header) => [
        new EventBatch(0, 0, header),
        one({ kind: 'free' }, header),
        one({ kind: 'alloc' }, header),
      ])
      const { out } = drive(new Filter({ kind: 'alloc' }), input)
      const counts = out.map(({ header, count }) => [header.format, count])
      expect(counts).toEqual([
        ['test', 0],
        ['test', 1],
        ['second', 0],
        ['second', 1],
      ])
      const none = drive(
        new Filter({ kind: 'lost' }),
        input.filter((batch) => batch.count > 0),
      ).out
      expect(none.map(({ header, count }) => [header.format, count])).toEqual([
        ['test', 0],
        ['second', 0],
      ])
    })

    it('at capacity and larger ones work', () => {
      const events = Array.from({ length: BATCH_EVENTS * 2 + 1 }, (_, i): TraceEvent => ({
        kind: i % 3 ? 'free' : 'alloc',
      }))
      const { out } = drive(new Filter({ kind: 'free' }), batchesOf(events, HEADER))
      expect(eventsOf(out)).toHaveLength(events.length - Math.ceil(events.length / 3))
      expect(filtered({ kind: 'free' }, events, events.length)).toHaveLength(
        events.length - Math.ceil(events.length / 3),
      )
    })

    it.each([
      [{ kind: 'alloc' }, true],
      [{ process: 1, size: { from: 1n } }, true],
      [{ process: 1 }, false],
      [{ process: 1, invert: true }, false],
      [{ kind: 'alloc', lifetimes: true }, false],
      [{ kind: undefined }, false],
      [{}, false],
    ] as [FilterOptions, boolean][])(
      'of which blocks may be torn apart say so in their header: %o',
      (options, isTorn) => {
        const layout = { version: 1 }
        const part = { of: 'x', trace: 1 }
        const input = [one({ kind: 'alloc', process: 1n, size: 5n }, { format: 'test', layout, part })]
        const [out] = drive(new Filter(options), input).out
        expect(JSON.stringify(out?.header)).toBe(
          JSON.stringify({ format: 'test', layout, ...(isTorn && { filtered: true }), part }),
        )
        expect(isTorn || out?.header === input[0]?.header).toBe(true)
        // What was filtered before stays marked, and is not marked again.
        const again = drive(new Filter(options), [out as EventBatch]).out[0]
        expect(again?.header).toBe(out?.header)
      },
    )

    it('that are given are not changed', () => {
      const input = inBatches([{ kind: 'alloc', size: 1n, function: 'f' }, { kind: 'free' }], 2, HEADER)
      const before = eventsOf(input)
      drive(new Filter({ kind: 'free', lifetimes: true }), input)
      expect(eventsOf(input)).toEqual(before)
    })
  })

  describe('names in warnings', () => {
    const warnings = (options: FilterOptions, events: readonly TraceEvent[]) => {
      const filter = new Filter(options)
      drive(filter, inBatches(events, 1, HEADER))
      return filter.warnings
    }
    const events: TraceEvent[] = [
      { kind: 'alloc', size: 0n, function: 'f' },
      { kind: 'free', thread: 1n },
    ]

    it('the fields that no event has, and those that there are instead', () => {
      expect(warnings({ time: { from: 1n }, size: { from: 1n }, cpu: 1 }, events)).toEqual([
        'no event has the field cpu, so no event matches it: filter on what the events have: thread, size, function',
        'no event has the field time, so no event matches it: filter on what the events have: thread, size, function',
      ])
    })

    it('none that only some events have, nor any of a trace without events', () => {
      expect(
        warnings({ size: { from: 9n }, thread: 5, function: 'g', kind: 'lost', events: { to: 1n } }, events),
      ).toEqual([])
      expect(warnings({ time: { from: 1n } }, [])).toEqual([])
      expect(warnings({ time: { from: 1n } }, [{ kind: 'alloc' }])).toEqual([
        'no event has the field time, so no event matches it',
      ])
    })
  })

  it('says why names match nothing where that may be a misunderstanding', () => {
    const stacks: TraceEvent[] = [
      { kind: 'alloc', stack: ['in /app+0x12 [0x99]', '[unknown]'] },
      { kind: 'alloc', stack: ['in /app+0x14'] },
    ]
    const other: TraceEvent = { kind: 'alloc', function: 'run<int>(int)', stack: ['load(char) at a.c:3', 'main'] }
    const named = [...stacks, other]
    const warnings = (options: FilterOptions, events: readonly TraceEvent[]) => {
      const filter = new Filter(options)
      drive(filter, inBatches(events, 1, HEADER))
      return filter.warnings
    }
    const noFunction = 'no frame has a function, so no name matches: hf-symbolize adds them'
    expect(warnings({ stack: ['load', /^ma/] }, stacks)).toEqual([noFunction])
    expect(warnings({ stack: /app\+0x12/ }, stacks)).toEqual([])
    expect(warnings({ stack: 'nothing' }, named)).toEqual([])
    expect(warnings({ stack: ['load', 'main'] }, named)).toEqual([])
    const whole = 'give whole names, or /a regular expression/'
    expect(warnings({ stack: 'load' }, named)).toEqual([`no name is load, but load(char) is one: ${whole}`])
    expect(warnings({ function: ['f', 'run'] }, named)).toEqual([`no name is run, but run<int>(int) is one: ${whole}`])
  })

  describe('with lifetimes', () => {
    it('keeps what a plain walk over the blocks keeps', () => {
      const options: FilterOptions[] = [
        { size: { from: 50n, to: 200n } },
        { thread: [1, 2], kind: ['alloc', 'realloc'] },
        { address: { from: 0x2000n } },
        { kind: 'alloc', api: ['malloc', 'kfree'], size: { from: 1n } },
        { process: 7, kind: 'alloc' },
      ]
      const sizes = fc.integer({ min: 1, max: 90 })
      const anyBlocks = fc.oneof(blockEvents, spacedEvents)
      fc.assert(
        fc.property(anyBlocks, fc.constantFrom(...options), fc.boolean(), sizes, (events, option, invert, size) => {
          const kept = keepWhole(events, (event, n) => keeps(event, n, { ...option, invert }))
          expect(filtered({ ...option, invert, lifetimes: true }, events, size)).toEqual(kept)
        }),
        { numRuns: runs(1000) },
      )
    })

    const large: FilterOptions = { size: { from: 100n }, lifetimes: true }

    it('begins a block with the realloc that meets the criteria, and keeps no other free or realloc', () => {
      const events: TraceEvent[] = [
        { kind: 'alloc', thread: 1n, address: 1n, size: 50n },
        { kind: 'realloc', thread: 2n, api: 'realloc', address: 2n, oldAddress: 1n, size: 100n, outcome: 'moved' },
        { kind: 'realloc', thread: 1n, address: 3n, oldAddress: 2n, size: 10n },
        { kind: 'free', thread: 1n, address: 3n },
        { kind: 'alloc', thread: 1n, address: 4n, size: 50n },
        { kind: 'realloc', thread: 2n, oldAddress: 4n, size: 100n, outcome: 'none' },
        { kind: 'realloc', thread: 2n, address: 0n, oldAddress: 5n, size: 100n },
        { kind: 'free', thread: 2n, address: 0n },
        { kind: 'free', thread: 2n, address: 4n, size: 100n },
        { kind: 'alloc', thread: 1n, address: 6n, size: 50n },
        { kind: 'free', thread: 2n, address: 6n, size: 100n },
        { kind: 'realloc', thread: 2n, oldAddress: 7n, size: 0n, outcome: 'freed' },
      ]
      const begun: TraceEvent[] = [
        { kind: 'alloc', thread: 2n, address: 2n, size: 100n },
        { kind: 'alloc', thread: 2n, address: 4n, size: 100n },
      ]
      const kept = [begun[0], events[2], events[3], begun[1], events[8]]
      for (const size of [1, 20]) {
        expect(filtered(large, events, size)).toEqual(kept)
        expect(filtered({ thread: 2, lifetimes: true }, events, size)).toEqual(kept)
        expect(filtered({ kind: 'free', lifetimes: true }, events, size)).toEqual([])
      }
      // Of the reallocs alone, too, which need no copy otherwise.
      expect(filtered(large, events.slice(1, 2))).toEqual([begun[0]])
      expect(filtered({ ...large, kind: 'alloc' }, events)).toEqual([])
    })

    it('leaves no free, realloc or leak in statistics that the whole trace has not', () => {
      const sizes = fc.constantFrom<FilterOptions>(
        { size: { from: 100n } },
        { thread: 1 },
        { thread: 2, invert: true },
        { events: { from: 10n } },
      )
      fc.assert(
        fc.property(fc.oneof(blockEvents, spacedEvents), sizes, (events, options) => {
          const whole = drive(new Repair(), inBatches(events, BATCH_EVENTS, HEADER)).out
          const { out } = drive(new Filter({ ...options, lifetimes: true }), whole)
          const [all, kept] = [statisticsOf(whole), statisticsOf(out)]
          const { unknownFrees, doubleFrees, overlaps } = kept.faults
          expect([unknownFrees, doubleFrees, overlaps.blocks, kept.reallocs.unknown]).toEqual([0, 0, 0, 0])
          expect(kept.leaked.blocks).toBeLessThanOrEqual(all.leaked.blocks)
          expect(kept.leaked.bytes <= all.leaked.bytes).toBe(true)
        }),
        { numRuns: runs(500) },
      )
    })

    it('follows addresses through reallocs', () => {
      const events: TraceEvent[] = [
        { kind: 'alloc', address: 1n, size: 100n },
        { kind: 'alloc', address: 2n, size: 1n },
        { kind: 'realloc', oldAddress: 1n, address: 3n, size: 5n },
        { kind: 'alloc', address: 1n, size: 1n },
        { kind: 'free', address: 1n },
        { kind: 'free', address: 2n },
        { kind: 'free', address: 3n },
        { kind: 'free', address: 3n },
      ]
      expect(filtered(large, events)).toEqual([events[0], events[2], events[6]])
    })

    it('follows indices, whose frees have nothing else', () => {
      const events: TraceEvent[] = [
        { kind: 'alloc', index: 1n, address: 0x10n, size: 100n },
        { kind: 'alloc', index: 2n, address: 0x20n, size: 1n },
        { kind: 'realloc', index: 1n, address: 0x30n, size: 5n },
        { kind: 'realloc', index: 2n, address: 0x40n, size: 500n },
        { kind: 'free', index: 1n },
        { kind: 'free', index: 2n },
        { kind: 'free', index: 3n },
      ]
      const begun: TraceEvent = { kind: 'alloc', index: 2n, address: 0x40n, size: 500n }
      expect(filtered(large, events)).toEqual([events[0], events[2], begun, events[4], events[5]])
    })

    it('leaves the block where it was when a realloc fails, and ends it when a realloc frees', () => {
      const block: TraceEvent = { kind: 'alloc', address: 1n, size: 100n }
      const free: TraceEvent = { kind: 'free', address: 1n }
      expect(filtered(large, [block, { kind: 'realloc', oldAddress: 1n, address: 0n, size: 7n }, free])).toHaveLength(3)
      expect(filtered(large, [block, { kind: 'realloc', oldAddress: 1n, address: 0n, size: 0n }, free])).toHaveLength(2)
      expect(filtered(large, [block, { kind: 'realloc', oldAddress: 1n, outcome: 'freed' }, free])).toHaveLength(2)
    })

    it('follows a realloc of HATF, whose own malloc and free were recorded before it', () => {
      const events: TraceEvent[] = [
        { kind: 'alloc', address: 1n, size: 100n },
        { kind: 'alloc', address: 2n, size: 50n },
        { kind: 'free', address: 1n },
        { kind: 'realloc', oldAddress: 1n, address: 2n, size: 50n, outcome: 'moved' },
        { kind: 'free', address: 2n },
      ]
      const ofHatf = (options: FilterOptions) => filtered(options, events, BATCH_EVENTS, HATF)
      expect(ofHatf(large)).toEqual([events[0], events[2], events[3], events[4]])
      expect(ofHatf({ size: { to: 50n }, kind: 'alloc', lifetimes: true })).toEqual([events[1], events[3], events[4]])
      // In other formats, the realloc is of a block whose allocation is missing.
      expect(filtered(large, events)).toEqual([events[0], events[2]])
    })

    it('does not take a new block for the one that was freed at its address', () => {
      const events: TraceEvent[] = [
        { kind: 'alloc', address: 1n, size: 100n },
        { kind: 'free', address: 1n },
        { kind: 'alloc', address: 1n, size: 1n },
        { kind: 'realloc', oldAddress: 1n, address: 2n, size: 5n },
        { kind: 'free', address: 2n },
      ]
      expect(filtered(large, events)).toEqual(events.slice(0, 2))
      const moved: TraceEvent = { kind: 'realloc', oldAddress: 7n, address: 1n, size: 1n }
      expect(filtered(large, events.with(2, moved))).toEqual(events.slice(0, 2))
    })

    it('takes equal addresses in two processes for two blocks', () => {
      const events: TraceEvent[] = [
        { kind: 'alloc', process: 1n, address: 0x1000n, size: 5000n },
        { kind: 'alloc', process: 2n, address: 0x1000n, size: 50n },
        { kind: 'free', process: 2n, address: 0x1000n },
        { kind: 'free', process: 1n, address: 0x1000n },
      ]
      expect(filtered(large, events)).toEqual([events[0], events[3]])
      expect(filtered({ kind: 'alloc', size: { to: 50n }, lifetimes: true }, events)).toEqual(events.slice(1, 3))
    })

    it("tells the pages of a kernel from the objects in them, also where a free is not by the block's own function", () => {
      const events: TraceEvent[] = [
        { kind: 'alloc', api: 'pages', address: 0x1000n, size: 4096n },
        { kind: 'alloc', api: 'kmalloc', address: 0x1000n, size: 8n },
        { kind: 'free', api: 'kfree', address: 0x1000n },
        { kind: 'free', api: 'pages', address: 0x1000n },
      ]
      expect(filtered({ kind: 'alloc', api: 'pages', lifetimes: true }, events)).toEqual([events[0], events[3]])
      expect(filtered({ kind: 'alloc', api: 'kmalloc', lifetimes: true }, events)).toEqual(events.slice(1, 3))
      const byOther: TraceEvent = { kind: 'free', api: 'kfree', address: 0x1000n }
      expect(filtered({ kind: 'alloc', api: 'pages', lifetimes: true }, events.with(3, byOther))).toEqual([
        events[0],
        byOther,
      ])
    })

    it('a realloc that ends pages does not continue with the object that was freed at the same address', () => {
      const events: TraceEvent[] = [
        { kind: 'alloc', api: 'pages', address: 0x1000n, size: 8n },
        { kind: 'alloc', api: 'kmalloc', address: 0x1000n, size: 100n },
        { kind: 'free', api: 'kfree', address: 0x1000n },
        { kind: 'realloc', api: 'kfree', address: 0x2000n, oldAddress: 0x1000n, size: 200n },
      ]
      expect(filtered(large, events)).toEqual([
        ...events.slice(1, 3),
        { kind: 'alloc', api: 'kfree', address: 0x2000n, size: 200n },
      ])
    })

    it('begins afresh with another trace', () => {
      const input = [
        ...inBatches([{ kind: 'alloc', address: 1n, size: 100n }], 1, HEADER),
        ...inBatches([{ kind: 'free', address: 1n }], 1, { format: 'second' }),
      ]
      expect(eventsOf(drive(new Filter(large), input).out)).toHaveLength(1)
    })
  })
})
