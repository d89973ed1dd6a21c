import { expect, test } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { ReportCollector } from '../../../lib/transforms/report/collector.js'

const EVENTS: TraceEvent[] = [
  { kind: 'comment', text: 'module 0x7f00 /lib/libc.so.6' },
  { kind: 'alloc', address: 16n, size: 8n },
  { kind: 'comment', thread: 7n, text: 'thread worker' },
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
  ['constructor', ['module 0x7f00 /lib/libc.so.6', 'thread worker', 'process 2 is pid 7', 'lost events']],
])('marks of a trace of %s', (format, titles) => {
  expect(reportOf(format).marks?.title).toEqual(titles)
})

test('a long comment says that it goes on', () => {
  const collector = new ReportCollector()
  const comment = (text: string): TraceEvent => ({ kind: 'comment', text })
  for (const batch of batchesOf([comment('a'.repeat(60)), comment('b'.repeat(61))], { format: 'x' }))
    collector.add(batch)
  expect(collector.finish().data({ name: 'a' }).marks?.title).toEqual(['a'.repeat(60), `${'b'.repeat(60)}…`])
})

test('a process of which only comments are known has no thread', () => {
  const collector = new ReportCollector()
  const events: TraceEvent[] = [
    { kind: 'alloc', address: 16n, size: 8n, thread: 1n },
    { kind: 'comment', text: 'process 2 is pid 7', process: 2n },
    { kind: 'alloc', address: 16n, size: 8n, process: 3n },
  ]
  for (const batch of batchesOf(events, { format: 'x' })) collector.add(batch)
  expect(collector.finish().data({ name: 'a' }).summary.threadCount).toBe(2)
})

test('the timeline has the resident set from its first event on', () => {
  const { timeline } = reportOf('recorder')
  expect(timeline.resident).toEqual([null, null, null, null, 4096, 4096, 8192])
})

test('marks of a trace with another unit have the last time of the first one', () => {
  const collector = new ReportCollector()
  const mark = (time: bigint): TraceEvent => ({ kind: 'comment', text: 'here', time })
  for (const timeUnit of ['ns', 'us'] as const)
    for (const batch of batchesOf([mark(1000n), mark(2000n)], { format: 'x', timeUnit })) collector.add(batch)
  expect(collector.finish().data({ name: 'a' }).marks?.time).toEqual([0, 1000, 1000, 1000])
})

test.each(['recorder', 'x'])('readers know how a recording began and ended: of %s', (format) => {
  const collector = new ReportCollector()
  const comment = (text: string): TraceEvent => ({ kind: 'comment', text })
  const modules = Array.from({ length: 60 }, (_, i) => comment(`process ${i} is pid 7`))
  const events = [comment('attached to a process that had run for 5.312 s'), ...modules, comment('ended by SIGSEGV')]
  for (const batch of batchesOf(events, { format })) collector.add(batch)
  const { notes, marks } = collector.finish().data({ name: 'a' })
  expect(marks?.title).toHaveLength(50)
  expect(notes).toEqual(
    format === 'x'
      ? []
      : [
          'The recording began when the program had run for 5.312 s: of its blocks from before, it has those that ' +
            'were freed or resized since.',
          'The program was ended by SIGSEGV.',
        ],
  )
})
