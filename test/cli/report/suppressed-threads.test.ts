import { expect, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { reportPieces } from '../../../lib/cli/report/text.js'
import { OwnFrames } from '../../../lib/names/own-frames.js'
import { parseSuppressions } from '../../../lib/names/suppressions.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { suppress } from '../../../lib/transforms/statistics/suppress.js'
import { HEADER, inBatches } from '../../transforms/events.js'

test('leaks by thread, which have suppressed ones, are shares of all leaks', () => {
  const leak = (thread: bigint, size: bigint, name: string): TraceEvent => ({
    kind: 'alloc',
    thread,
    address: 16n * size,
    size,
    stack: [name],
  })
  const collector = new StatisticsCollector()
  const events = [leak(1n, 10n, 'own'), leak(1n, 60n, 'known'), leak(2n, 30n, 'known')]
  for (const batch of inBatches(events, 4096, HEADER)) collector.add(batch)
  const statistics = suppress(collector.finish(), parseSuppressions('leak:known'))
  const names = { own: new OwnFrames(), columns: 100 }
  expect([...reportPieces(statistics, { top: 5, names, sections: ['leaks'] })].join(''))
    .toBe(`Top sites by bytes leaked (1 in all)
  bytes    share  cumulative  blocks  of allocations  site
     10  100.0 %     100.0 %       1         100.0 %  own

Top threads by bytes leaked, with suppressed ones (2 in all)
  thread  bytes   share  cumulative  blocks  of allocations
  1          70  70.0 %      70.0 %       2         100.0 %
  2          30  30.0 %     100.0 %       1         100.0 %

Suppressed leaks: 2 blocks, 90 bytes, by 1 rule
`)
})
