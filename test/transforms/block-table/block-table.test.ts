import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { BlockTable, type BlockTableOptions } from '../../../lib/transforms/block-table/block-table.js'
import { BLOCK_ROWS, type BlockRow } from '../../../lib/transforms/block-table/columns.js'
import { StackNumbers } from '../../../lib/transforms/block-table/stack-numbers.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import type { Site, Statistics } from '../../../lib/transforms/statistics/result.js'
import { blockRows } from '../../support/block-rows.js'
import { runs } from '../../support/runs.js'
import { alloc, free, HEADER, inBatches, realloc } from '../events.js'
import { anyTraces } from '../statistics/random.js'

interface Trace {
  readonly header: TraceHeader
  readonly events: readonly TraceEvent[]
}

function rowsOf(
  traces: readonly Trace[],
  options: BlockTableOptions = {},
  batchSize = 4096,
  table = new BlockTable(options),
): BlockRow[] {
  const batches = traces.flatMap(({ header, events }) => inBatches(events, batchSize, header))
  return blockRows(batches, table)
}

function statisticsOf(traces: readonly Trace[]): Statistics {
  const collector = new StatisticsCollector()
  for (const { header, events } of traces) for (const batch of inBatches(events, 4096, header)) collector.add(batch)
  return collector.finish()
}

const sum = (rows: readonly BlockRow[], of: (row: BlockRow) => bigint | undefined) =>
  rows.reduce((total, row) => total + (of(row) ?? 0n), 0n)
const amount = (rows: readonly BlockRow[], of: (row: BlockRow) => bigint | undefined = ({ size }) => size) => ({
  blocks: rows.length,
  bytes: sum(rows, of),
})
const lifetime = (rows: readonly BlockRow[], name: 'lifetime' | 'lifetimeBytes' | 'lifetimeEvents') => {
  const some = rows.filter((row) => row[name] !== undefined)
  return { count: some.length, sum: sum(some, (row) => row[name]) }
}
const totals = ({ count, sum: all }: { count: number; sum: bigint } = { count: 0, sum: 0n }) => ({ count, sum: all })
const atPeak = (rows: readonly BlockRow[]) => {
  const last = rows.reduce((most, { peakEvent = 0n }) => (peakEvent > most ? peakEvent : most), 0n)
  return { event: Number(last), rows: last === 0n ? [] : rows.filter(({ peakEvent }) => peakEvent === last) }
}

/** What names a site in the statistics: the stack, else function, file and line, else the call site and the module. */
const keyOf = ({ stack, function: name, file, line, module, callSite }: Omit<Site, 'rest'>): string => {
  if (stack !== undefined) return stack.length === 0 ? '' : JSON.stringify(stack)
  if (name !== undefined || file !== undefined || line !== undefined)
    return name === undefined && file === undefined && line === 0 ? '' : JSON.stringify([name, file, line || undefined])
  return callSite === undefined && module === undefined ? '' : JSON.stringify([module, String(callSite)])
}

function bySite(rows: readonly BlockRow[], of: (row: BlockRow) => bigint | undefined = ({ size }) => size) {
  const sites = new Map<string, { blocks: number; bytes: bigint }>()
  for (const row of rows) {
    // Rows do not have line 0, so the call site beside one would be taken for the site.
    const key = row.site === undefined ? '' : keyOf(row)
    const site = sites.get(key) ?? { blocks: 0, bytes: 0n }
    sites.set(key, { blocks: site.blocks + 1, bytes: site.bytes + (of(row) ?? 0n) })
  }
  return Object.fromEntries([...sites].toSorted())
}
const sitesOf = (statistics: Statistics, figure: 'leaked' | 'atPeak' | 'allocated') =>
  Object.fromEntries(
    statistics.sites
      .filter((site) => site[figure].blocks > 0)
      .map((site): [string, unknown] => [keyOf(site), site[figure]])
      .toSorted(),
  )

/** What the table says of a stream, in the figures of the statistics. */
function expectEqual(traces: readonly Trace[], batchSize: number): void {
  const expected = statisticsOf(traces)
  const blocks = rowsOf(traces, {}, batchSize)
  const spans = rowsOf(traces, { spans: true }, batchSize)
  const live = blocks.filter(({ ending }) => ending === 'live')
  expect(amount(spans)).toEqual(expected.allocated)
  expect(amount(live)).toEqual(expected.leaked)
  expect(bySite(live)).toEqual(sitesOf(expected, 'leaked'))
  expect(bySite(spans)).toEqual(sitesOf(expected, 'allocated'))
  expect(amount(blocks.filter(({ ending }) => ending === 'overlap'))).toEqual(expected.faults.overlaps)
  expect(amount(spans.filter(({ temporary }) => temporary === 1))).toEqual(expected.temporary.heaptrack)
  expect(amount(spans.filter(({ temporaryMemray }) => temporaryMemray === 1))).toEqual(expected.temporary.memray)
  for (const table of [blocks, spans]) {
    const peak = atPeak(table)
    if (expected.peakBytes.bytes > 0n) {
      const { event, blocks: count, bytes } = expected.peakBytes
      expect({ event: peak.event, ...amount(peak.rows, ({ peakSize }) => peakSize) }).toEqual({
        event,
        blocks: count,
        bytes,
      })
    }
    expect(totals(expected.lifetimes.events)).toEqual(lifetime(table, 'lifetimeEvents'))
    // A sum of bytes beyond 64 bits is capped in the table.
    if (expected.allocated.bytes < 2n ** 64n)
      expect(totals(expected.lifetimes.bytes)).toEqual(lifetime(table, 'lifetimeBytes'))
    // Statistics add up the times of traces in the unit of the first one only.
    const timed = table.filter(({ timeUnit }) => timeUnit === traces[0]?.header.timeUnit)
    expect(totals(expected.lifetimes.time)).toEqual(lifetime(timed, 'lifetime'))
  }
  if (expected.peakBytes.bytes > 0n)
    expect(bySite(atPeak(spans).rows, ({ peakSize }) => peakSize)).toEqual(sitesOf(expected, 'atPeak'))
  expect(spans.filter(({ ending }) => ending !== 'resize').map(({ until, birth }) => [birth, until])).toEqual(
    blocks.map(({ until, birth }) => [birth, until]),
  )
  expect(blocks.reduce((count, { reallocs }) => count + reallocs, 0)).toBe(spans.length - blocks.length)
}

const trace = (...events: TraceEvent[]): Trace[] => [{ header: HEADER, events }]

describe('the table of blocks', () => {
  test('without whole stacks, rows have the same values otherwise, also where there is no room for all stacks', () => {
    fc.assert(
      fc.property(anyTraces, fc.integer({ min: 1, max: 50 }), fc.constantFrom(1, 7, 1000), (traces, size, nodes) => {
        const rowsOfTable = (isWhole: boolean) =>
          rowsOf(traces, {}, size, new BlockTable({}, new StackNumbers({ nodes, bytes: 10_000 }), isWhole)).map(
            ({ site: _site, stack: _stack, ...row }) => row,
          )
        expect(rowsOfTable(false)).toEqual(rowsOfTable(true))
      }),
      { numRuns: runs(100) },
    )
  })

  test(
    'without whole stacks, rows stay the same when the sites of blocks that have ended are dropped',
    { tags: ['slow'] },
    () => {
      // The names of 20,000 frames take several times the memory after which sites are swept.
      const stack = (n: number) => [`leaf${n}`.padEnd(300, 'x'), `caller${n % 7}`, 'main']
      const events = Array.from({ length: 20_000 }, (_, n): TraceEvent[] => [
        { kind: 'alloc', address: BigInt(n + 1), size: 5n, stack: stack(n) },
        ...(n >= 50 && n % 3 > 0 ? [{ kind: 'free', address: BigInt(n - 49) } as const] : []),
      ]).flat()
      const rowsOfTable = (isWhole: boolean) =>
        rowsOf(trace(...events), {}, 4096, new BlockTable({}, new StackNumbers(), isWhole)).map(
          ({ site: _site, stack: _stack, ...row }) => row,
        )
      const rows = rowsOfTable(false)
      expect(rows).toEqual(rowsOfTable(true))
      expect(rows.every(({ frame, address }) => frame === stack(Number(address) - 1)[0])).toBe(true)
    },
  )

  test('has the figures of the statistics, for any stream', { tags: ['slow'] }, () => {
    fc.assert(
      fc.property(anyTraces, fc.integer({ min: 1, max: 50 }), (traces, batchSize) => {
        const some = traces
          .filter(({ events }) => events.length > 0)
          .map(({ header, events }) => ({ header: { ...header }, events }))
        expectEqual(some, batchSize)
      }),
      { numRuns: runs(1000) },
    )
  })

  test('line 0 is no line', () => {
    const [row] = rowsOf([
      { header: { format: 'mtrc' }, events: [alloc(0x1000n, 10n, { thread: 0n, function: 'parse', line: 0 })] },
    ])
    expect(row).toMatchObject({ function: 'parse', site: 'parse' })
    expect(row).not.toHaveProperty('line')
  })

  test('what a row says', () => {
    const site = { function: 'parse', file: 'a.c', line: 12 }
    const rows = rowsOf([
      {
        header: { format: 'test', timeUnit: 'ns' },
        events: [
          { kind: 'comment', text: 'first' },
          alloc(0x1000n, 10n, { thread: 1n, process: 7n, time: 5n, api: 'malloc', ...site }),
          alloc(0x2000n, 1n, { thread: 1n, process: 7n, time: 6n, stack: ['malloc', 'main'] }),
          realloc(0x1000n, 0x3000n, 30n, { thread: 2n, process: 7n, time: 8n, api: 'realloc' }),
          free(0x3000n, { thread: 3n, process: 7n, time: 9n, api: 'free' }),
        ],
      },
    ])
    expect(rows).toEqual([
      {
        trace: 1,
        birth: 2n,
        since: 4n,
        until: 5n,
        ending: 'free',
        process: 7n,
        thread: 2n,
        endThread: 3n,
        api: 'realloc',
        endApi: 'free',
        address: 0x3000n,
        firstSize: 10n,
        size: 30n,
        reallocs: 1,
        time: 5n,
        sinceTime: 8n,
        endTime: 9n,
        timeUnit: 'ns',
        lifetimeEvents: 3n,
        lifetimeBytes: 31n,
        lifetime: 4n,
        temporary: 1,
        temporaryMemray: 0,
        peakEvent: 4n,
        peakSize: 30n,
        site: 'parse at a.c:12',
        frame: 'parse at a.c:12',
        ...site,
      },
      {
        trace: 1,
        birth: 3n,
        since: 3n,
        ending: 'live',
        process: 7n,
        thread: 1n,
        address: 0x2000n,
        firstSize: 1n,
        size: 1n,
        reallocs: 0,
        time: 6n,
        sinceTime: 6n,
        timeUnit: 'ns',
        temporary: 0,
        temporaryMemray: 0,
        peakEvent: 4n,
        peakSize: 1n,
        site: 'malloc < main',
        frame: 'main',
        function: 'main',
        stack: ['malloc', 'main'],
        stackId: 1,
      },
    ])
  })

  test('where a stack is all that an event has, function, file, line and module are those of its frame', () => {
    const stack = ['malloc at malloc.c:9 in /lib/libc.so.6', 'parse<int> at a.c:12 in /bin/app [0x55d0]', 'main']
    const rows = rowsOf(
      trace(
        alloc(0x10n, 1n, { stack }),
        alloc(0x20n, 2n, { stack, function: 'own' }),
        alloc(0x30n, 3n, { stack: ['at a.c:0 in /bin/app'] }),
        alloc(0x40n, 4n, { stack: [] }),
        alloc(0x50n, 5n, { stack, line: 0 }),
        realloc(0x40n, 0x40n, 6n, { stack }),
        alloc(0x60n, 7n, { stack: ['', 'main'] }),
      ),
    )
    const parse = { function: 'parse<int>', file: 'a.c', line: 12, module: '/bin/app' }
    expect(
      rows
        .toSorted((a, b) => Number(a.size) - Number(b.size))
        .map(({ function: name, file, line, module }) => ({ function: name, file, line, module })),
    ).toEqual([parse, { function: 'own' }, { file: 'a.c', module: '/bin/app' }, parse, parse, {}])
  })

  test('the size at the peak is the one of that time, also of a block that shrank since', () => {
    const events = [alloc(0x1000n, 100n), realloc(0x1000n, 0x1000n, 1n), alloc(0x2000n, 2n), free(0x1000n)]
    expect(rowsOf(trace(...events)).map(({ peakEvent, peakSize }) => [peakEvent, peakSize])).toEqual([
      [1n, 100n],
      [undefined, undefined],
    ])
    const spans = rowsOf(trace(...events), { spans: true })
    expect(spans.map(({ ending, since, until, size, peakSize }) => [ending, since, until, size, peakSize])).toEqual([
      ['resize', 1n, 2n, 100n, 100n],
      ['free', 2n, 4n, 1n, undefined],
      ['live', 3n, undefined, 2n, undefined],
    ])
  })

  test('events about no live block have no row', () => {
    const events = [free(0x1000n), alloc(0x1000n, 1n), free(0x1000n), free(0x1000n), free(0n), alloc(0n, 5n)]
    expect(rowsOf(trace(...events)).map(({ birth, until }) => [birth, until])).toEqual([[2n, 3n]])
  })

  test('the pages of a kernel and an object in them are two blocks', () => {
    const kernel = 0xffff_8880_0000_0000n
    const rows = rowsOf(
      trace(
        alloc(kernel, 4096n, { api: 'pages' }),
        alloc(kernel, 64n, { api: 'kmalloc' }),
        free(kernel, { api: 'kfree' }),
        free(kernel, { api: 'pages' }),
      ),
    )
    expect(rows.map(({ size, until, address }) => [size, until, address])).toEqual([
      [64n, 3n, kernel],
      [4096n, 4n, kernel],
    ])
  })

  test('as many blocks as there are, at the end of a trace and where all are freed', () => {
    const count = 3 * BLOCK_ROWS + 5
    const events = Array.from({ length: count }, (_, i) => alloc(BigInt(i + 1) * 16n, 8n))
    const live = rowsOf([
      { header: { format: 'a' }, events },
      { header: { format: 'b' }, events: [...events, ...events.map(({ address }) => free(address as bigint))] },
    ])
    expect(live).toHaveLength(2 * count)
    expect(new Set(live.map(({ birth }) => birth)).size).toBe(2 * count)
    expect(live.filter(({ trace: number, ending }) => number === 1 && ending === 'live')).toHaveLength(count)
    expect(live.filter(({ trace: number, ending }) => number === 2 && ending === 'free')).toHaveLength(count)
  })

  test('sites that no live block has are forgotten', { tags: ['slow'] }, () => {
    const table = new BlockTable()
    const name = 'x'.repeat(2000)
    let strings = 0
    let found = 0
    const take = () => {
      for (let rows = table.next(); rows !== null; rows = table.next()) {
        strings = Math.max(strings, rows.strings.memory)
        for (let i = 0; i < rows.count; i++) {
          const { size, site, stack, stackId } = rows.row(i)
          expect(stackId).toBe(size === 0n ? undefined : Number(size))
          expect(site).toBe(size === 0n ? 'kept at k.c:1' : `${name}${size} < main`)
          if (size !== 0n) expect(stack).toEqual([`${name}${size}`, 'main'])
          found++
        }
      }
    }
    const kept = alloc(0x10n, 0n, { function: 'kept', file: 'k.c', line: 1 })
    for (let n = 0; n < 200; n++) {
      const events = Array.from({ length: 50 }, (_, i) => {
        const size = BigInt(50 * n + i + 1)
        return [alloc(0x1000n, size, { stack: [`${name}${size}`, 'main'] }), free(0x1000n)]
      }).flat()
      for (const batch of inBatches(n === 0 ? [kept, ...events] : events, 4096, HEADER)) {
        table.feed(batch)
        take()
      }
    }
    table.end()
    take()
    expect(found).toBe(10_001)
    // All of them together are 40 MB, with their texts.
    expect(strings).toBeLessThan(12_000_000)
  })

  test('a row has the innermost frame that is no wrapper', () => {
    const [first, second, third, fourth] = rowsOf(
      trace(
        alloc(0x10n, 1n, { stack: ['operator new(unsigned long)', 'parse (p.cc:3)', 'main'] }),
        alloc(0x20n, 1n, { stack: Array.from({ length: 100 }, () => 'malloc') }),
        alloc(0x30n, 1n, { function: 'f', file: 'f.c', line: 2 }),
        alloc(0x40n, 1n, { stack: [] }),
      ),
    )
    expect([first?.frame, second?.frame, third?.frame, fourth?.frame]).toEqual([
      'parse (p.cc:3)',
      'malloc',
      'f at f.c:2',
      undefined,
    ])
    expect([first?.stackId, second?.stackId, third?.stackId, fourth?.stackId]).toEqual([1, 2, undefined, 3])
    const deep = [...Array.from({ length: 100 }, () => 'malloc'), 'run', 'main']
    expect(rowsOf(trace(alloc(0x10n, 1n, { stack: deep })))[0]?.frame).toBe('run')
  })

  test('lifetimes in bytes are capped', () => {
    const most = 2n ** 64n - 1n
    const [first] = rowsOf(trace(alloc(0x10n, 1n), alloc(0x20n, most), alloc(0x30n, most), free(0x10n)))
    expect(first?.lifetimeBytes).toBe(most)
    expect(first?.lifetimeEvents).toBe(3n)
  })

  test('each trace has lifetimes in its own unit', () => {
    const events = [alloc(0x10n, 1n, { time: 3n }), free(0x10n, { time: 8n })]
    const rows = rowsOf([
      { header: { format: 'a', timeUnit: 'ns' }, events },
      { header: { format: 'b', timeUnit: 'us' }, events },
      { header: { format: 'c' }, events },
    ])
    expect(rows.map((row) => [row.timeUnit, row.lifetime])).toEqual([
      ['ns', 5n],
      ['us', 5n],
      [undefined, 5n],
    ])
  })

  test('unknown options are refused', () => {
    expect(() => new BlockTable({ sizes: true } as never)).toThrow('unknown option')
  })
})
