import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { weightNote } from '../../../lib/event/weights.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { runs } from '../../support/runs.js'
import { HEADER, inBatches } from '../events.js'

const weight = fc.option(fc.constantFrom(0n, 1n, 2n, 1n << 32n, (1n << 32n) + 1n), { nil: undefined })
const events = fc.array(
  weight.map((value): TraceEvent => ({ kind: 'alloc', size: 1n, ...(value !== undefined && { weight: value }) })),
  { maxLength: 40 },
)

function statisticsOf(list: readonly TraceEvent[], size: number) {
  const collector = new StatisticsCollector()
  for (const batch of inBatches(list, size, HEADER)) {
    const cut = batch.count >> 1
    collector.add(batch, 0, cut)
    collector.add(batch, cut)
  }
  return collector.finish()
}

it('weights are counted, and change no other figure', () => {
  fc.assert(
    fc.property(events, fc.constantFrom(1, 3, 100), (list, size) => {
      const count = list.filter(({ weight: value = 1n }) => value !== 1n).length
      const { weighted, ...rest } = statisticsOf(list, size)
      expect(weighted).toBe(count === 0 ? undefined : count)
      const plain = list.map(({ kind, size: bytes }) => ({ kind, size: bytes }) as TraceEvent)
      expect(rest).toEqual(statisticsOf(plain, size))
    }),
    { numRuns: runs(100) },
  )
})

it('the note is a sentence for one and for several', () => {
  expect(weightNote(1)).toMatch('1 event has a weight and stands for several, but figures count')
  expect(weightNote(1500)).toMatch('1500 events have weights and stand for several each, but figures count')
})
