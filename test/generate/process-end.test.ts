import { expect, test } from 'vitest'
import { EventBatch } from '../../lib/event/batch.js'
import type { TraceEvent } from '../../lib/event/trace-event.js'
import { TraceSurvey } from '../../lib/generate/survey.js'
import { Ending, type TraceModel } from '../../lib/generate/trace-model.js'

/** The model of traces in one stream. */
function modelOf(...traces: readonly (readonly TraceEvent[])[]): TraceModel {
  const survey = new TraceSurvey()
  for (const events of traces) {
    const batch = new EventBatch(events.length, 0, { format: 'ndjson' })
    for (const event of events) batch.push(event)
    survey.add(batch)
  }
  return survey.finish()
}

const allocations = (process: bigint, count: number): TraceEvent[] =>
  Array.from({ length: count }, (_, i) => ({
    kind: 'alloc',
    process,
    thread: process,
    address: 4096n * BigInt(i + 1),
    size: 100n,
  }))

/** How many blocks of a model end in each way. */
function endings({ rows }: TraceModel): Record<number, number> {
  const counts: Record<number, number> = {}
  rows.ending.forEach((ending, row) => (counts[ending] = (counts[ending] ?? 0) + rows.count[row]!))
  return counts
}

test('a model frees the blocks of a process when it ends', () => {
  const model = modelOf([
    ...allocations(1n, 40),
    { kind: 'process-end', process: 1n },
    ...allocations(2n, 40),
    { kind: 'free', process: 2n, thread: 2n, address: 4096n },
  ])
  expect(endings(model)).toEqual({ [Ending.stays]: 39, [Ending.free]: 41 })
  // The first block lives the longest: 39 other allocations. Lifetimes of less than 64 are exact.
  expect(Math.max(...model.rows.lifetime.filter((_, row) => model.rows.ending[row] === Ending.free))).toBe(39)
})

test('what lives when the last process ends stays', () => {
  const model = modelOf([
    ...allocations(1n, 40),
    { kind: 'free', process: 1n, thread: 1n, address: 4096n },
    { kind: 'process-end', process: 1n },
  ])
  expect(endings(model)).toEqual({ [Ending.stays]: 39, [Ending.free]: 1 })
})

test('a model frees the blocks of a trace where another one allocates', () => {
  const model = modelOf(allocations(1n, 40), allocations(1n, 30))
  expect(endings(model)).toEqual({ [Ending.stays]: 30, [Ending.free]: 40 })
  expect(Math.max(...model.rows.lifetime)).toBe(39)
})

test('what lives when the last trace with allocations ends stays', () => {
  const free: TraceEvent = { kind: 'free', process: 1n, thread: 1n, address: 4096n }
  const ended: TraceEvent[] = [...allocations(1n, 40), { kind: 'process-end', process: 1n }]
  expect(endings(modelOf(ended, [free], [free]))).toEqual({ [Ending.stays]: 40 })
  expect(endings(modelOf(allocations(1n, 40), [free]))).toEqual({ [Ending.stays]: 40 })
})
