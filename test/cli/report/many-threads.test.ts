import { expect, test } from 'vitest'
import { leakSections, peakSections, temporarySection } from '../../../lib/cli/report/holders.js'
import { OwnFrames } from '../../../lib/names/own-frames.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { tableLines } from '../../../lib/cli/report/columns.js'
import type { TraceEvent } from '../../../lib/event/batch.js'
import type { ThreadStatistics } from '../../../lib/transforms/statistics/result.js'
import { HEADER, inBatches } from '../../transforms/events.js'

const THREADS = 5000

test('of many threads only those that are shown get names', () => {
  const events = Array.from({ length: THREADS }, (_, i): TraceEvent => ({
    kind: 'alloc',
    thread: BigInt(i + 1),
    address: BigInt(16 * (i + 1)),
    size: BigInt(i + 1),
  }))
  const collector = new StatisticsCollector()
  for (const batch of inBatches(events, 4096, HEADER)) collector.add(batch)
  const statistics = collector.finish()
  let named = 0
  const threads = statistics.threads.map((row): ThreadStatistics => ({
    ...row,
    get thread() {
      named++
      return row.thread as bigint
    },
  }))
  const counted = { ...statistics, threads }
  const names = { own: new OwnFrames(), columns: 100 }
  const tables = [
    ...peakSections(counted, 3, names),
    ...leakSections(counted, 3, names),
    temporarySection(counted, 3, names, 'heaptrack'),
  ]
  expect(tables.filter(([title]) => title?.startsWith('Top threads') === true).map((lines) => lines.slice(2))).toEqual([
    [
      '  5000    5,000  0.0 %       0.0 %       1',
      '  4999    4,999  0.0 %       0.1 %       1',
      '  4998    4,998  0.0 %       0.1 %       1',
    ],
    [
      '  5000    5,000  0.0 %       0.0 %       1         100.0 %',
      '  4999    4,999  0.0 %       0.1 %       1         100.0 %',
      '  4998    4,998  0.0 %       0.1 %       1         100.0 %',
    ],
  ])
  expect(named).toBe(6)
})

test('a table has any number of rows', () => {
  const rows = Array.from({ length: 200_000 }, (_, i) => [String(i)])
  expect(tableLines({ title: 'Rows', heads: ['n'], rows }, 80).at(-1)).toBe('  199999')
})
