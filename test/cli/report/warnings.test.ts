import { expect, test } from 'vitest'
import { sizeWarning } from '../../../lib/cli/report/warnings.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { HEADER, inBatches } from '../../transforms/events.js'

test.each([2n ** 47n, 2n ** 47n + 1n, 2n ** 64n - 1n])('allocations larger than any address space: %s', (size) => {
  const collector = new StatisticsCollector()
  for (const batch of inBatches([{ kind: 'alloc', address: 16n, size }], 1, HEADER)) collector.add(batch)
  const warning = sizeWarning(collector.finish(true))
  if (size === 2n ** 47n) expect(warning).toBeUndefined()
  else expect(warning).toContain(`an allocation has ${size.toLocaleString('en')} bytes`)
})
