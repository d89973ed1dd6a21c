import { expect, test } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { ReportCollector } from '../../../lib/transforms/report/collector.js'

const EVENTS: TraceEvent[] = [
  { kind: 'comment', text: 'module 0x7f00 /lib/libc.so.6' },
  { kind: 'alloc', address: 16n, size: 8n },
  { kind: 'comment', text: 'process 2 is pid 7' },
  { kind: 'other', code: 82, present: 4096n },
  { kind: 'lost', count: 3n },
  { kind: 'other', code: 82, present: 8192n },
]

function reportOf(format: string) {
  const collector = new ReportCollector()
  for (const batch of batchesOf(EVENTS, { format })) collector.add(batch)
  return collector.finish().data({ name: 'a' })
}

test.each([
  ['recorder', ['process 2 is pid 7', 'lost events']],
  ['heaptrack', ['lost events']],
  ['constructor', ['module 0x7f00 /lib/libc.so.6', 'process 2 is pid 7', 'lost events']],
])('marks of a trace of %s', (format, titles) => {
  expect(reportOf(format).marks?.title).toEqual(titles)
})

test('the timeline has the resident set, once', () => {
  const { timeline } = reportOf('recorder')
  expect(timeline.resident?.filter((bytes) => bytes !== null).map(Number)).toEqual([4096, 8192])
})
