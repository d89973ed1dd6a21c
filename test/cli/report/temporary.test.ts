import { expect, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { sortedSites } from '../../../lib/cli/report/tables.js'
import { SECTIONS } from '../../../lib/cli/defaults.js'
import { reportPieces, showsTemporary } from '../../../lib/cli/report/text.js'
import { OwnFrames } from '../../../lib/names/own-frames.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { HEADER, inBatches } from '../../transforms/events.js'

const NAMES = { own: new OwnFrames(), columns: 100 }

function statisticsOf(events: readonly TraceEvent[]) {
  const collector = new StatisticsCollector()
  for (const batch of inBatches(events, 4096, HEADER)) collector.add(batch)
  return collector.finish()
}

const reportText = (...of: Parameters<typeof reportPieces>) => [...reportPieces(...of)].join('')

test('ranks temporary allocations so that threads do not disturb it', () => {
  const turns = [...Array<null>(3)].flatMap((): TraceEvent[] => [
    { kind: 'alloc', thread: 1n, address: 1n, size: 8n, function: 'busy' },
    { kind: 'alloc', thread: 2n, address: 2n, size: 8n, function: 'busy' },
    { kind: 'free', thread: 1n, address: 1n },
    { kind: 'free', thread: 2n, address: 2n },
  ])
  const once: TraceEvent[] = [
    { kind: 'alloc', thread: 1n, address: 1n, size: 8n, function: 'once' },
    { kind: 'free', thread: 1n, address: 1n },
  ]
  const shown = { top: 10, names: NAMES }
  const statistics = statisticsOf([...once, ...turns])
  expect(reportText(statistics, { ...shown, sections: ['temporary'], temporaryBy: 'memray' }))
    .toBe(`Top sites by temporary allocations (2 in all)
  allocations  memray  of these  heaptrack  site
            6       6   100.0 %          0  busy
            1       1   100.0 %          1  once
`)
  expect(reportText(statistics, { ...shown, sections: ['temporary'] }))
    .toBe(`Top sites by temporary allocations (2 in all)
  allocations  heaptrack  of these  memray  site
            1          1   100.0 %       1  once
            6          0     0.0 %       6  busy
`)
  const order = (sort: 'memray' | 'heaptrack') => sortedSites(statistics.sites, sort).map((site) => site.function)
  expect([order('memray'), order('heaptrack')]).toEqual([
    ['busy', 'once'],
    ['once', 'busy'],
  ])
  for (const section of ['sites', 'sizes', 'threads'] as const)
    for (const temporaryBy of ['heaptrack', 'memray'] as const)
      expect(
        reportText(statistics, { top: 10, names: { ...NAMES, columns: 140 }, sections: [section], temporaryBy }),
      ).toContain(`temporary (${temporaryBy})`)
})

test('the definition decides the sections that are listed for it, and no others', () => {
  const statistics = statisticsOf([
    { kind: 'alloc', thread: 1n, process: 1n, cpu: 1, address: 1n, size: 8n, function: 'busy' },
    { kind: 'alloc', thread: 2n, process: 2n, cpu: 2, address: 2n, size: 9n, function: 'idle' },
    { kind: 'realloc', thread: 1n, process: 1n, oldAddress: 1n, address: 3n, size: 8n, function: 'busy' },
    { kind: 'free', thread: 2n, process: 1n, address: 3n },
  ])
  for (const section of SECTIONS)
    for (const by of ['site', 'function', 'thread'] as const)
      for (const top of [0, 5]) {
        const shown = { sections: [section], top, names: { ...NAMES, by } }
        const [one, other] = (['heaptrack', 'memray'] as const).map((temporaryBy) =>
          reportText(statistics, { ...shown, temporaryBy }),
        )
        expect([section, by, top, showsTemporary(shown)]).toEqual([section, by, top, one !== other])
      }
})
