import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { EventTable, type EventTableOptions } from '../../../lib/cli/report/event-table.js'
import { MpatrolReport } from '../../../lib/cli/report/mpatrol-report.js'
import { mpatrolText, roundedMean } from '../../../lib/cli/report/mpatrol.js'
import { MtrcDecoder } from '../../../lib/formats/mtrc/index.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { IN_CORPUS, mpatrolFile, RECORDED } from '../../formats/mtrc/mpatrol.js'
import { drive, slices } from '../../support/drive.js'
import { anyEvent, HEADER, inBatches } from '../../transforms/events.js'

const text = (chunks: readonly Uint8Array[]) => Buffer.concat(chunks).toString()

function table(
  events: readonly TraceEvent[],
  options: EventTableOptions = {},
  header: TraceHeader = HEADER,
  batchSize = 4096,
): string {
  const { out, error } = drive(new EventTable(options), inBatches(events, batchSize, header))
  if (error) throw error
  return text(out)
}

const rows = (events: readonly TraceEvent[], options?: EventTableOptions) =>
  table(events, options).split('\n\n')[0]!.split('\n').slice(2)

function comparesWithMpatrol(name: string): void {
  const batches = () => drive(new MtrcDecoder(), slices(mpatrolFile(`${name}.mtrc`), 65_536)).out
  const expected = (kind: string) => Buffer.from(mpatrolFile(`${name}.${kind}.txt`)).toString()

  it("has the table and statistics that mpatrol's own reader prints", () => {
    const { out, error } = drive(new EventTable({ sources: true }), batches())
    expect(error).toBeUndefined()
    expect(text(out) === expected('verbose')).toBe(true)
    expect(out.every((piece) => piece.length < 80_000)).toBe(true)
  })

  it('has its statistics', () => {
    const [first] = batches()
    expect(text(drive(new MpatrolReport(), batches()).out)).toBe(expected('stats'))
    const collector = new StatisticsCollector()
    // That reader stops where a second header stands in place of a record.
    for (const batch of batches())
      if (JSON.stringify(batch.header) === JSON.stringify(first?.header)) collector.add(batch)
    expect(mpatrolText(collector.finish().mpatrol)).toBe(expected('stats'))
  })
}

describe.each(RECORDED)('the real trace %s', comparesWithMpatrol)
describe.each(IN_CORPUS)('the real trace %s of the corpus', { tags: ['corpus'] }, comparesWithMpatrol)

describe('EventTable', () => {
  test('numbers the blocks of traces that have no indices, and tells of frees what they freed', () => {
    expect(
      rows([
        { kind: 'alloc', address: 0x10n, size: 100n, thread: 3n },
        { kind: 'existing', address: 0x20n, size: 5n },
        { kind: 'comment', text: 'not about a block' },
        { kind: 'realloc', oldAddress: 0x10n, address: 0x30n, size: 200n },
        { kind: 'free', address: 0x30n },
        { kind: 'free', address: 0x99n },
        { kind: 'free', address: 0n },
        { kind: 'alloc', address: 0n, size: 7n },
        { kind: 'realloc', oldAddress: 0x20n, address: 0n, size: 0n },
        { kind: 'reserve', address: 0x1000n, size: 4096n },
        { kind: 'reserve', address: 0x2000n, size: 4096n, type: 'internal' },
      ]),
    ).toEqual([
      '     1  alloc        1  0x0000000000000010       100               1       100',
      '     2  old          2  0x0000000000000020         5               2       105',
      '     3  realloc      1  0x0000000000000030       200               2       205',
      '     4  free         1  0x0000000000000030       200       3       1         5',
      '     5  free            0x0000000000000099                         1         5',
      '     6  free            0x0000000000000000                         1         5',
      '     7  alloc           0x0000000000000000         7               1         5',
      '     8  realloc      2  0x0000000000000020         5       6       0         0',
      '        reserve         0x0000000000001000      4096',
      '        internal        0x0000000000002000      4096',
    ])
  })

  test('tells sources only where there are any, and a file only with its line', () => {
    const at = { kind: 'alloc', address: 1n, size: 1n } as const
    const all = rows(
      [
        { ...at, thread: 2n ** 64n - 1n, function: 'f', file: 'a.c', line: 3 },
        { ...at, thread: 0n },
        { ...at, file: 'a.c' },
        { ...at, file: 'a.c', line: 9 },
        { ...at, function: 'operator new(unsigned)' },
      ],
      { sources: true },
    )
    expect(all.filter((row) => row.startsWith(' '.repeat(20)))).toEqual([
      '                        thread 18446744073709551615 in f at a.c line 3',
      '                        at a.c line 9',
      '                        in operator new(unsigned)',
    ])
  })

  test('columns give way to what is too wide for them', () => {
    const huge = 2n ** 64n - 1n
    expect(
      rows([
        { kind: 'alloc', index: huge, address: huge, size: huge },
        { kind: 'alloc', index: 5n, address: huge, size: huge },
      ]),
    ).toEqual([
      '     1  alloc   18446744073709551615  0xFFFFFFFFFFFFFFFF  18446744073709551615               1  18446744073709551615',
      '     2  alloc        5  0xFFFFFFFFFFFFFFFF  18446744073709551615               2  36893488147419103230',
    ])
  })

  test('addresses of 32-bit traces have eight digits', () => {
    const header = { format: 'mtrc', layout: { wordSize: 4 } }
    expect(
      table([{ kind: 'alloc', address: 0xabcn, size: 1n }], {}, header)
        .split('\n')
        .slice(0, 3),
    ).toEqual([
      ' event  type     index  allocation      size    life   count     bytes',
      '------  ------  ------  ----------  --------  ------  ------  --------',
      '     1  alloc        1  0x00000ABC         1               1         1',
    ])
  })

  test('is the same in batches of any size, for events of any sort', () => {
    // Of one process: the addresses are any, so that blocks of several could not be told apart.
    const ofOne = anyEvent.map(({ process: _process, ...event }) => event as TraceEvent)
    fc.assert(
      fc.property(fc.array(ofOne, { maxLength: 40 }), fc.integer({ min: 1, max: 10 }), (events, batchSize) => {
        if (events.length === 0) return
        const whole = table(events, { sources: true })
        expect(table(events, { sources: true }, HEADER, batchSize)).toBe(whole)
        const collector = new StatisticsCollector()
        for (const batch of inBatches(events, 7, HEADER)) collector.add(batch)
        const statistics = mpatrolText(collector.finish().mpatrol)
        expect(whole.endsWith(`\n\n${statistics}`)).toBe(true)
        const report = new MpatrolReport()
        const { out, error } = drive(report, inBatches(events, batchSize, HEADER))
        expect(error).toBeUndefined()
        expect(text(out)).toBe(statistics)
      }),
    )
  })

  test('ends of processes end their blocks, in the statistics alone too', { tags: ['slow'] }, () => {
    const process = fc.constantFrom({}, { process: 1n }, { process: 2n })
    const place = fc.integer({ min: 1, max: 4 }).map(BigInt)
    const key = fc.oneof(
      place.map((n) => ({ address: n })),
      place.map((n) => ({ index: n, address: n })),
    )
    const event: fc.Arbitrary<TraceEvent> = fc.oneof(
      { arbitrary: fc.constant({ kind: 'process-end' as const }), weight: 1 },
      { arbitrary: key.map((at) => ({ kind: 'free' as const, ...at })), weight: 3 },
      {
        arbitrary: fc
          .tuple(key, fc.bigInt({ min: 1n, max: 100n }))
          .map(([at, size]) => ({ kind: 'alloc' as const, size, ...at })),
        weight: 5,
      },
    )
    const events = fc.array(
      fc.tuple(event, process).map(([one, of]): TraceEvent => ({ ...one, ...of })),
      { minLength: 1, maxLength: 60 },
    )
    fc.assert(
      fc.property(events, fc.integer({ min: 1, max: 70 }), (all, batchSize) => {
        const collector = new StatisticsCollector()
        for (const batch of inBatches(all, 7, HEADER)) collector.add(batch)
        const { out, error } = drive(new MpatrolReport(), inBatches(all, batchSize, HEADER))
        expect(error).toBeUndefined()
        expect(text(out)).toBe(mpatrolText(collector.finish().mpatrol))
      }),
      { numRuns: 500 },
    )
  })

  test('shows the first trace of several, or the one that is asked for', () => {
    const traces = [1, 2].flatMap((n) =>
      inBatches([{ kind: 'alloc', address: BigInt(n), size: 1n }], 1, { format: 'mtrc' }),
    )
    const show = (options: EventTableOptions) => {
      const stage = new EventTable(options)
      const { out, error } = drive(stage, traces)
      return { shown: /0x0+(\d)/.exec(text(out))?.[1], warnings: stage.warnings, error: error?.message }
    }
    expect(show({})).toMatchObject({ shown: '1', warnings: [expect.stringContaining('the input has 2 traces')] })
    expect(show({ trace: 1 })).toEqual({ shown: '1', warnings: [], error: undefined })
    expect(show({ trace: 2 })).toEqual({ shown: '2', warnings: [], error: undefined })
    expect(show({ trace: 3 })).toMatchObject({ shown: undefined, error: 'there is no trace 3: the input has 2' })
  })

  test('cut off, it ends with the statistics so far; without any trace, with nothing', () => {
    const stage = new EventTable()
    stage.feed(inBatches([{ kind: 'alloc', address: 1n, size: 5n }], 1, HEADER)[0]!)
    const out: string[] = []
    for (let piece = stage.next(); piece !== null; piece = stage.next()) out.push(Buffer.from(piece).toString())
    stage.endTruncated()
    for (let piece = stage.next(); piece !== null; piece = stage.next()) out.push(Buffer.from(piece).toString())
    expect(out).toHaveLength(2)
    expect(out[1]).toContain('allocated: 1 (5 bytes)')
    const empty = new EventTable()
    empty.endTruncated()
    expect(empty.next()).toBeNull()
  })
})

test('averages are rounded to the nearest integer, halves to the even one', () => {
  const mean = (bytes: bigint, blocks: number) => roundedMean({ bytes, blocks })
  expect([mean(5n, 2), mean(7n, 2), mean(61n, 2), mean(10n, 3), mean(11n, 3), mean(0n, 0), mean(2n ** 80n, 1)]).toEqual(
    [2n, 4n, 30n, 3n, 4n, 0n, 2n ** 80n],
  )
})
