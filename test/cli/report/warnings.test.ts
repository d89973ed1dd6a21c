import { expect, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { EventTable } from '../../../lib/cli/report/event-table.js'
import type { FinalReport } from '../../../lib/cli/report/final-report.js'
import { LiveFiguresReport } from '../../../lib/cli/report/live-figures.js'
import { MpatrolReport } from '../../../lib/cli/report/mpatrol-report.js'
import { sizeWarning, statisticsWarnings } from '../../../lib/cli/report/warnings.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { drive } from '../../support/drive.js'
import { HEADER, inBatches } from '../../transforms/events.js'

test.each([2n ** 47n, 2n ** 47n + 1n, 2n ** 64n - 1n])('allocations larger than any address space: %s', (size) => {
  const collector = new StatisticsCollector()
  for (const batch of inBatches([{ kind: 'alloc', address: 16n, size }], 1, HEADER)) collector.add(batch)
  const warning = sizeWarning(collector.finish(true).sizes.largest)
  if (size === 2n ** 47n) expect(warning).toBeUndefined()
  else expect(warning).toContain(`an allocation has ${size.toLocaleString('en')} bytes`)
})

const block: TraceEvent = { kind: 'alloc', process: 2n, address: 16n, size: 8n }
const unknown = Array.from(
  { length: 12 },
  (_, i) =>
    ({
      kind: i % 2 === 0 ? 'free' : 'realloc',
      oldAddress: BigInt(i + 1) << 12n,
      address: BigInt(i + 1) << 12n,
      size: 1n,
    }) as TraceEvent,
)

test.each<[name: string, events: readonly TraceEvent[], header: TraceHeader, warning: RegExp]>([
  ['events were lost', [{ kind: 'lost', count: 3n }], HEADER, /lost 3 events in 1 place/],
  ['events were removed', [block], { ...HEADER, filtered: true }, /events were removed: leaks \(1\)/],
  [
    'blocks leaked with their process',
    [block, { kind: 'process-end', process: 2n }],
    { ...HEADER, filtered: true },
    /leaks \(1\) and frees and reallocs of unknown blocks \(0\)/,
  ],
  ['blocks are unknown', [block, ...unknown], HEADER, /12 frees and reallocs are of unknown blocks/],
  ['the trace is sampled', [{ ...block, weight: 3n }], HEADER, /1 event has a weight/],
  ['a size is impossible', [{ ...block, size: 2n ** 63n }], HEADER, /more than any address space/],
  ['nothing is wrong', [block], HEADER, /^$/],
])('every report warns: %s', (_, events, header, warning) => {
  const collector = new StatisticsCollector()
  const batches = () => inBatches(events, 5, header)
  for (const batch of batches()) collector.add(batch)
  const expected = statisticsWarnings(collector.finish())
  expect(expected.join()).toMatch(warning)
  const live = () => new LiveFiguresReport({ every: { events: 3 }, print: () => '\n' })
  for (const make of [live, () => new MpatrolReport(), () => new EventTable()]) {
    const report: FinalReport = make()
    drive(report, batches())
    expect(report.warnings).toEqual(expected)
  }
})
