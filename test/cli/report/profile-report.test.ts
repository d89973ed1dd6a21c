import { describe, expect, test } from 'vitest'
import { ProfileReport } from '../../../lib/cli/report/profile-report.js'
import { StatisticsReport } from '../../../lib/cli/report/statistics-report.js'
import { ProfileCollector } from '../../../lib/transforms/profile/collector.js'
import { encodeText } from '../../../lib/event/strings.js'
import { inBatches } from '../../transforms/events.js'

/** Whether the chosen one of two traces, the second of which is truncated, is reported as complete. */
const reports = {
  profile: (trace: number) =>
    new ProfileReport({
      collector: new ProfileCollector({}),
      profileOf: (profile) => profile,
      write: ({ statistics }) => [encodeText(String(statistics.complete))],
      trace,
    }),
  statistics: (trace: number) => new StatisticsReport({ print: ({ complete }) => [String(complete)], trace }),
}

describe.each(Object.entries(reports))('%s', (_, report) => {
  test.each([
    [1, 'true'],
    [2, 'false'],
  ])('of two traces, only the last one can be truncated: %i', (trace, complete) => {
    const stage = report(trace)
    for (const format of ['one', 'two'])
      for (const batch of inBatches([{ kind: 'alloc', address: 16n, size: 1n }], 1, { format })) stage.feed(batch)
    stage.endTruncated()
    expect(Buffer.from(stage.next()!).toString()).toBe(complete)
    expect(stage.next()).toBeNull()
  })
})
