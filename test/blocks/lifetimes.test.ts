import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import { Lifetimes } from '../../lib/blocks/lifetimes.js'
import { HEADER, inBatches } from '../transforms/events.js'

describe('Lifetimes', () => {
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
