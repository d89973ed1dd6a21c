import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import { OUTCOMES } from '../../lib/event/fields.js'
import { Change, Ledger } from '../../lib/transforms/ledger.js'
import { blocksByMap, type Deed } from './blocks.js'
import { blockEvents, HEADER, inBatches } from './events.js'

const NAMES = Object.entries(Change)

/** The ledger's account: each block has the number of its first event as its one word. */
function byLedger(events: readonly TraceEvent[], batchSize: number): { deeds: Deed[]; live: number[] } {
  const ledger = new Ledger(1)
  const deeds: Deed[] = []
  for (const batch of inBatches(events, batchSize, HEADER)) {
    for (let i = 0; i < batch.count; i++) {
      const change = ledger.take(batch, i)
      if ((change & Change.began) !== 0) {
        expect(ledger.words[ledger.at]).toBe(0)
        ledger.words[ledger.at] = (change & Change.ended) !== 0 ? (ledger.ended[0] as number) : deeds.length + 1
      }
      deeds.push({
        did: NAMES.filter(([, bit]) => (change & bit) !== 0).map(([name]) => name),
        ...((change & Change.ended) !== 0 && { ended: ledger.ended[0] as number }),
        ...((change & Change.reused) !== 0 && { overwritten: ledger.overwritten[0] as number }),
      })
    }
  }
  const live: number[] = []
  ledger.forEach((words, at) => live.push(words[at] as number))
  expect(ledger.size).toBe(live.length)
  return { deeds, live: live.toSorted((a, b) => a - b) }
}

/** Blocks with processes and the functions of a kernel on some of their events. */
const anyBlocks = fc.array(
  fc.record(
    {
      kind: fc.constantFrom('alloc', 'free', 'realloc', 'existing', 'free', 'alloc'),
      process: fc.constantFrom(7n, 8n),
      api: fc.constantFrom('malloc', 'pages', 'kfree', 'kmem_cache_free'),
      index: fc.constantFrom(0n, 1n, 2n),
      address: fc.constantFrom(0n, 0x1000n, 0x2000n),
      oldAddress: fc.constantFrom(0n, 0x1000n, 0x2000n),
      size: fc.constantFrom(0n, 10n),
      outcome: fc.constantFrom(...OUTCOMES),
    },
    { requiredKeys: ['kind', 'address'] },
  ).map((event) => event as TraceEvent),
  { maxLength: 60 },
)

describe('Ledger', () => {
  it.each([['blocks as programs make them', blockEvents], ['anything', anyBlocks]])('does as a plain map does: %s', (_, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, fc.integer({ min: 1, max: 9 }), (events, batchSize) => {
        expect(byLedger(events, batchSize)).toEqual(blocksByMap(events))
      }),
      { numRuns: 500 },
    )
  })

  test('cleared, it knows of nothing', () => {
    const ledger = new Ledger(2)
    const [batch] = inBatches([{ kind: 'alloc', address: 16n }, { kind: 'free', address: 16n }, { kind: 'alloc', index: 5n }], 3, HEADER)
    expect([0, 1, 2].map((i) => ledger.take(batch!, i))).toEqual([Change.began, Change.ended, Change.began])
    expect(ledger.size).toBe(1)
    ledger.clear()
    expect(ledger.size).toBe(0)
    expect(ledger.take(batch!, 1)).toBe(Change.unknown)
  })

  test('a hundred thousand blocks keep their words while the table grows', () => {
    const ledger = new Ledger(3)
    const n = 100_000
    const events = (kind: 'alloc' | 'free') => Array.from({ length: n }, (_, i): TraceEvent => ({ kind, address: BigInt(i + 1) * 0x1_0000_0010n }))
    let number = 0
    for (const batch of inBatches(events('alloc'), 4096, HEADER)) {
      for (let i = 0; i < batch.count; i++) {
        ledger.take(batch, i)
        ledger.words.set([++number, number * 2, number * 3], ledger.at)
      }
    }
    expect(ledger.size).toBe(n)
    number = 0
    for (const batch of inBatches(events('free'), 4096, HEADER)) {
      for (let i = 0; i < batch.count; i++) {
        if (ledger.take(batch, i) !== Change.ended) throw new Error(`block ${number + 1} is not there`)
        if (ledger.ended[0] !== ++number || ledger.ended[2] !== number * 3) throw new Error(`block ${number} has other words`)
      }
    }
    expect(ledger.size).toBe(0)
  })
})
