import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openTrace } from '../../../lib/streams/io/open-trace.js'
import { ReportCollector } from '../../../lib/transforms/report/collector.js'
import { plain } from '../../../lib/transforms/report/plain.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { CORPUS, listOfCorpus } from '../../support/corpus.js'
import { isTested } from '../../support/runs.js'
import { expectWhole } from './whole.js'

/** The files in the folders of a folder that are traces. */
function tracesOf(root: string): string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((folder) => folder.isDirectory())
    .flatMap(({ name }) => readdirSync(join(root, name)).map((file) => join(root, name, file)))
    .filter((path) => /\.(mtrc|mtrace|hatf|ltrace|log|heaptrack|txt|zst)(\.gz)?$/.test(path))
    .filter(
      (path) =>
        !/\.(stats|verbose|print|interpret|report)\.txt|\.raw\.|heaptrack\/.*\.log|\/hostile\/|\/README/.test(path),
    )
}

/** Compares the report on a trace with its statistics. */
async function compare(path: string): Promise<void> {
  const collector = new ReportCollector()
  const statistics = new StatisticsCollector()
  for await (const batch of openTrace(path)) {
    collector.add(batch)
    statistics.add(batch)
  }
  const data = collector.finish().data()
  expectWhole(data)
  const { sites, threads, processes, cpus, timeline, sizes, ...expected } = statistics.finish()
  const { peakBytes, time } = expected
  const { exact, others: _others, ...sizeFigures } = sizes
  const { peakTime, ...summary } = data.summary
  const since = peakBytes.time === undefined || time === undefined ? undefined : peakBytes.time - time.first
  expect(peakTime).toEqual(since === undefined ? undefined : Number(since))
  expect(summary).toEqual({
    ...plain({ ...expected, sizes: sizeFigures }),
    siteCount: sites.length,
    threadCount: threads.filter(({ rest, allocated, frees }) => rest !== 'none' || allocated.blocks + frees > 0).length,
    processCount: processes.length,
    cpuCount: cpus.length,
  })
  expect(data.timeline.maxBytes).toEqual(timeline.map(({ maxBytes }) => plain(maxBytes)))
  expect(data.threads.events.slice(0, 32)).toEqual(threads.slice(0, 32).map(({ events }) => events))
  expect(data.churn.sizes.count).toEqual(exact.slice(0, 200).map(({ count }) => count))
  if (sites.length > 1000) return
  const bytes = sites.map(({ allocated }) => plain(allocated.bytes))
  expect(data.sites.allocatedBytes).toEqual(bytes)
}

describe('reports have the figures of the statistics', () => {
  test.each(tracesOf('test/fixtures').filter(isTested))('%s', compare)
})

describe('reports on the corpus have the figures of the statistics', { tags: ['corpus'], timeout: 120_000 }, () => {
  test.each(listOfCorpus(() => tracesOf(CORPUS), 'none'))('%s', compare)
})
