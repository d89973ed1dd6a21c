import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { BATCH_EVENTS, EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { loadKernel } from '../../lib/kernel/load.js'
import { BlockEffect } from '../../lib/blocks/block-effect.js'
import { LiveSet } from '../../lib/blocks/live-set.js'
import type { LiveExports } from '../../lib/kernel/live.js'
import { blocksByMap, type Deed } from './blocks.js'
import { blockEvents, HEADER, inBatches, spacedEvents } from '../transforms/events.js'
import { runs } from '../support/runs.js'

const NAMES = Object.entries(BlockEffect)

/** Applies event i of a batch. @returns its effect */
function take(liveSet: LiveSet, batch: EventBatch, i: number): number {
  liveSet.follow(batch, i, i + 1)
  return liveSet.effects[0] as number
}

/**
 * The live set's account: each block has the number of its first event as its one word. Batches are followed as a
 * whole, or event by event.
 */
function byLiveSet(
  events: readonly TraceEvent[],
  batchSize: number,
  isWhole: boolean,
): { deeds: Deed[]; live: number } {
  const liveSet = new LiveSet(1)
  const deeds: Deed[] = []
  for (const batch of inBatches(events, batchSize, HEADER)) {
    if (isWhole) liveSet.follow(batch)
    for (let i = 0; i < batch.count; i++) {
      if (!isWhole) take(liveSet, batch, i)
      const { effects, ended, begun, words } = liveSet
      const row = isWhole ? i : 0
      const effect = effects[row]
      const [from, to] = [ended[row], begun[row]]
      const isFailed = effect === BlockEffect.failed
      if (!isFailed) expect(from !== 0).toBe((effect & BlockEffect.ended) !== 0)
      expect(to !== 0).toBe((effect & BlockEffect.began) !== 0)
      deeds.push({
        did: NAMES.filter(([, bit]) => (effect & bit) !== 0).map(([name]) => name),
        ...(from !== 0 && { [isFailed ? 'left' : 'ended']: words[from] }),
        ...((effect & BlockEffect.reused) !== 0 && { overwritten: words[to] }),
      })
      if (to !== 0) words[to] = from !== 0 ? words[from] : deeds.length
    }
  }
  return { deeds, live: liveSet.size }
}

describe('LiveSet', () => {
  it.each([
    ['blocks as programs make them', blockEvents],
    ['anything', spacedEvents],
  ])('does as a plain map does: %s', (_, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, fc.integer({ min: 1, max: 9 }), fc.boolean(), (events, batchSize, isWhole) => {
        const { deeds, live } = blocksByMap(events)
        expect(byLiveSet(events, batchSize, isWhole)).toEqual({ deeds, live: live.length })
      }),
      { numRuns: runs(500) },
    )
  })

  test.each([true, false])(
    'a failed realloc of the block with index 0 is about it; a failed allocation is not',
    (isWhole) => {
      const events: TraceEvent[] = [
        { kind: 'realloc', index: 0n, outcome: 'none' },
        { kind: 'realloc', index: 0n, address: 0n, oldAddress: 0n, size: 10n },
        { kind: 'alloc', index: 0n, address: 0n, size: 10n },
      ]
      const { deeds, live } = blocksByMap(events)
      expect(byLiveSet(events, 3, isWhole)).toEqual({ deeds, live: live.length })
    },
  )

  test('cleared, it knows of nothing', () => {
    const liveSet = new LiveSet(2)
    const [batch] = inBatches(
      [
        { kind: 'alloc', address: 16n },
        { kind: 'free', address: 16n },
        { kind: 'alloc', index: 5n },
      ],
      3,
      HEADER,
    )
    expect([0, 1, 2].map((i) => take(liveSet, batch!, i))).toEqual([
      BlockEffect.began,
      BlockEffect.ended,
      BlockEffect.began,
    ])
    expect(liveSet.size).toBe(1)
    liveSet.clear()
    expect(liveSet.size).toBe(0)
    expect(take(liveSet, batch!, 1)).toBe(BlockEffect.unknown)
  })

  test('a hundred thousand blocks keep their words while the table grows', { tags: ['slow'] }, () => {
    const liveSet = new LiveSet(3)
    const n = 100_000
    const events = (kind: 'alloc' | 'free') =>
      Array.from({ length: n }, (_, i): TraceEvent => ({ kind, address: BigInt(i + 1) * 0x1_0000_0010n }))
    let number = 0
    for (const batch of inBatches(events('alloc'), 4096, HEADER)) {
      for (let i = 0; i < batch.count; i++) {
        take(liveSet, batch, i)
        liveSet.words.set([++number, number * 2, number * 3], 3 * liveSet.begun[0])
      }
    }
    expect(liveSet.size).toBe(n)
    number = 0
    for (const batch of inBatches(events('free'), 4096, HEADER)) {
      for (let i = 0; i < batch.count; i++) {
        if (take(liveSet, batch, i) !== BlockEffect.ended) throw new Error(`block ${number + 1} is not there`)
        const at = 3 * liveSet.ended[0]
        if (liveSet.words[at] !== ++number || liveSet.words[at + 2] !== number * 3)
          throw new Error(`block ${number} has other words`)
      }
    }
    expect(liveSet.size).toBe(0)
  })

  test('follows part of a batch, and not more events than a batch may have', () => {
    const events = Array.from({ length: 10 }, (_, i): TraceEvent => ({ kind: 'alloc', address: BigInt(i + 1) }))
    const [batch] = inBatches(events, 10, HEADER)
    const liveSet = new LiveSet(1)
    liveSet.follow(batch!, 3, 5)
    expect([liveSet.size, ...liveSet.effects.subarray(0, 2)]).toEqual([2, BlockEffect.began, BlockEffect.began])
    expect([3, 4, 5, 6].map((address) => liveSet.find(false, address, 0) > 0)).toEqual([false, true, true, false])
    expect(liveSet.find(true, 4, 0)).toBe(0)
    const large = new EventBatch(BATCH_EVENTS + 1, 0, HEADER)
    for (let i = 0; i <= BATCH_EVENTS; i++) large.push({ kind: 'alloc', address: BigInt(i + 1) })
    expect(() => liveSet.follow(large)).toThrow(RangeError)
  })

  test('very many short traces are forgotten one by one', () => {
    const liveSet = new LiveSet(1)
    const [batch] = inBatches(
      [
        { kind: 'free', address: 16n },
        { kind: 'alloc', address: 16n },
        { kind: 'free', address: 16n },
        { kind: 'alloc', address: 32n },
      ],
      4,
      HEADER,
    )
    for (let trace = 0; trace < 3000; trace++) {
      liveSet.clear()
      liveSet.follow(batch!)
      if (liveSet.effects[0] !== BlockEffect.unknown || liveSet.size !== 1)
        throw new Error(`trace ${trace} knows of another one`)
    }
  })

  test('says so when there is no memory for more blocks', () => {
    const run = loadKernel<LiveExports>('live')
    const [batch] = inBatches(
      [
        { kind: 'alloc', address: 16n },
        { kind: 'alloc', address: 32n },
      ],
      2,
      HEADER,
    )
    expect(() => new LiveSet(1, { ...run, follow: () => 1 }).follow(batch!)).toThrow(
      new RangeError('more blocks are live at once than there is memory for'),
    )
    expect(() => new LiveSet(1, { ...run, clear: () => 0 })).toThrow(RangeError)
  })
})
