import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import { Lifetimes } from '../../lib/blocks/lifetimes.js'
import { runs } from '../support/runs.js'
import { blockEvents, HATF, HEADER, inBatches, spacedEvents } from '../transforms/events.js'
import { follow } from '../transforms/oracle.js'

describe('Lifetimes', () => {
  it.each([HEADER, HATF])('give labels as a plain map does, in all address spaces, of format $format', (header) => {
    const labels = fc.array(fc.nat({ max: 3 }), { minLength: 80, maxLength: 80 })
    fc.assert(
      fc.property(
        fc.oneof(blockEvents, spacedEvents),
        labels,
        fc.integer({ min: 1, max: 90 }),
        (events, own, batchSize) => {
          const expected = follow(events, (_, n) => own[n - 1] || undefined, header === HATF).map((label) => label ?? 0)
          const lifetimes = new Lifetimes()
          let done = 0
          const found = inBatches(events, batchSize, header).flatMap((batch) => {
            const some = Uint32Array.from(own.slice(done, (done += batch.count)))
            lifetimes.follow(batch, some)
            return [...some]
          })
          expect(found).toEqual(expected)
        },
      ),
      { numRuns: runs(1000) },
    )
  })

  it('hold the labelled live blocks only', () => {
    const lifetimes = new Lifetimes()
    for (let round = 0n; round < 50n; round++) {
      const events: TraceEvent[] = []
      for (let i = 1n; i <= 100n; i++) {
        events.push({ kind: 'alloc', address: round * 0x10000n + i * 16n, size: i })
        events.push({ kind: 'alloc', index: round * 100n + i, address: 1n })
      }
      for (let i = 1n; i <= 100n; i++) {
        events.push({ kind: 'free', address: round * 0x10000n + i * 16n }, { kind: 'free', index: round * 100n + i })
      }
      const [batch] = inBatches(events, events.length, HEADER)
      if (batch === undefined) throw new Error('no batch')
      const labels = Uint32Array.from(events, (_, i) => (i % 4 < 2 ? 7 : 0))
      lifetimes.follow(batch, labels)
      expect(labels.slice(200).reduce((sum, label) => sum + label, 0)).toBe(100 * 7)
      expect(lifetimes.size).toBe(0)
    }
  })

  it('go by a new allocation where an address is still live', () => {
    const lifetimes = new Lifetimes()
    const events = [1n, 1n, 2n, 2n].map((address): TraceEvent => ({ kind: 'alloc', address }))
    const [batch] = inBatches(events, 4, HEADER)
    if (batch === undefined) throw new Error('no batch')
    lifetimes.follow(batch, Uint32Array.of(1, 0, 2, 3))
    expect(lifetimes.size).toBe(1)
    const [frees] = inBatches(
      [
        { kind: 'free', address: 1n },
        { kind: 'free', address: 2n },
      ],
      2,
      HEADER,
    )
    if (frees === undefined) throw new Error('no batch')
    const labels = new Uint32Array(2)
    lifetimes.follow(frees, labels)
    expect([...labels]).toEqual([0, 3])
  })
})
