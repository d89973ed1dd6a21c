import fc from 'fast-check'
import { expect, describe, it } from 'vitest'
import { batchesOf, type TraceEvent } from '../../lib/event/batch.js'
import type { TraceHeader } from '../../lib/event/header.js'
import type { FaultName } from '../../lib/transforms/option-values.js'
import { Repair } from '../../lib/transforms/repair/repair.js'
import { Verifier, type VerifyOptions } from '../../lib/transforms/verify.js'
import { alloc, blockEvents, free, inBatches, realloc } from './events.js'
import { runs } from '../support/runs.js'

const A = 0x1000n
const B = 0xffff_8800_0000_2000n

function verify(
  events: readonly TraceEvent[],
  options?: VerifyOptions,
  header: TraceHeader = { format: 'test' },
): Verifier {
  const verifier = new Verifier(options)
  for (const batch of batchesOf(events, header)) verifier.check(batch)
  return verifier
}

describe('Verifier', () => {
  it.each<[FaultName, TraceEvent[], string]>([
    [
      'unknown-free',
      [alloc(A, 8n), free(B, { thread: 7n })],
      'free of 0xffff880000002000 by thread 7: the block is not live',
    ],
    ['unknown-free', [alloc(A, 8n), realloc(B, A + 64n, 8n)], 'realloc of 0xffff880000002000: the block is not live'],
    [
      'unknown-free',
      [alloc(A, 8n, { index: 1n }), { kind: 'free', index: 2n }],
      'free of index 2: the block is not live',
    ],
    ['double-free', [alloc(A, 8n), free(A), free(A)], 'free of 0x1000: the block was freed before'],
    ['double-free', [alloc(A, 8n), realloc(A, B, 8n), free(A)], 'free of 0x1000: the block was freed before'],
    ['live-address', [alloc(A, 8n), alloc(A, 16n)], 'alloc of 16 bytes at 0x1000, where a block is live'],
    [
      'live-address',
      [alloc(A, 8n, { index: 1n }), alloc(A, 16n, { index: 2n })],
      'alloc of 16 bytes at 0x1000, where a block is live',
    ],
    ['live-address', [alloc(A, 0n), realloc(0n, A, 16n)], 'realloc of 16 bytes at 0x1000, where a block is live'],
    [
      'overlap',
      [alloc(A, 17n), alloc(A + 16n, 8n)],
      'alloc of 8 bytes at 0x1010 runs into another block, the live one at 0x1000',
    ],
    [
      'overlap',
      [alloc(B, 8n), alloc(B - 16n, 17n)],
      'alloc of 17 bytes at 0xffff880000001ff0 runs into another block, the live one at 0xffff880000002000',
    ],
    ['zero-size', [alloc(B, 8n), alloc(A, 0n)], 'alloc of 0 bytes at 0x1000'],
    ['absurd-size', [alloc(B, 8n), alloc(A, 2n ** 47n + 1n)], 'alloc of 140737488355329 bytes at 0x1000'],
    ['absurd-size', [alloc(A, 8n), alloc(2n ** 64n - 8n, 9n)], 'alloc of 9 bytes at 0xfffffffffffffff8'],
    [
      'time-backwards',
      [alloc(A, 8n, { time: 2n ** 60n }), free(A, { time: 2n ** 60n - 1n })],
      'time 1152921504606846975 is before that of the event before',
    ],
    [
      'time-backwards',
      [alloc(A, 8n, { sequence: 5 }), free(A, { sequence: 3 })],
      'sequence number 3 is before that of the event before',
    ],
    [
      'time-backwards',
      [alloc(A, 8n, { sequence: 5, time: 1n }), free(A, { sequence: 3, time: 2n })],
      'sequence number 3 is before that of the event before',
    ],
    ['live-address', [alloc(A, 8n), { kind: 'existing', address: A }], 'existing at 0x1000, where a block is live'],
  ])('finds %s', (fault, events, what) => {
    const { counts, findings } = verify(events, {
      allow: ['zero-size', 'live-address'].filter((name) => name !== fault) as FaultName[],
    })
    const last = events.length
    expect(Object.fromEntries(counts)).toEqual({ [fault]: 1 })
    expect(findings).toEqual([{ fault, event: last, what }])
  })

  it('finds nothing in a sound trace', () => {
    const { counts, events } = verify([
      alloc(A, 16n, { time: 1n }),
      alloc(A + 16n, 16n, { time: 1n }),
      realloc(A, A, 12n),
      free(A + 16n, { time: 2n }),
      realloc(A, A, 32n),
      free(0n),
      alloc(0n, 2n ** 63n),
      realloc(A, 0n, 2n ** 63n),
      realloc(A, 0n, 0n),
      alloc(2n ** 64n - 8n, 8n),
      { kind: 'existing', address: B, size: 1n },
      free(B),
      alloc(B, 4096n, { api: 'pages' }),
      alloc(B, 8n, { api: 'kmem_cache_alloc' }),
      free(B, { api: 'kfree' }),
      { kind: 'comment', text: 'x' },
      { kind: 'lost', sequence: 2 ** 31 - 1 },
      { kind: 'lost', sequence: -(2 ** 31) },
    ])
    expect(Object.fromEntries(counts)).toEqual({})
    expect(events).toBe(18)
  })

  it('counts all, keeps the first places, and leaves out what is allowed', () => {
    const events = [alloc(A, 0n), ...Array.from({ length: 20 }, (_, i) => free(B + BigInt(i)))]
    const { counts, findings } = verify(events, { places: 3, allow: ['zero-size'] })
    expect(Object.fromEntries(counts)).toEqual({ 'unknown-free': 20 })
    expect(findings.map(({ event }) => event)).toEqual([2, 3, 4])
  })

  it('counts every block that overlaps, also where others do already', () => {
    const inner = [0x100n, 0x200n, 0x300n].map((offset) => alloc(A + offset, 16n))
    expect(Object.fromEntries(verify([alloc(A, 4096n), ...inner]).counts)).toEqual({ overlap: 3 })
    expect(Object.fromEntries(verify([...inner, alloc(A, 4096n), alloc(A + 0x180n, 16n)]).counts)).toEqual({
      overlap: 2,
    })
  })

  it('has a limit of sizes to be set', () => {
    expect(verify([alloc(A, 101n)], { maxSize: 100n }).counts.size).toBe(1)
    expect(verify([alloc(A, 100n)], { maxSize: 100n }).counts.size).toBe(0)
  })

  it.each([5 as never, -1n, 2n ** 64n])('refuses %s as the limit of sizes', (maxSize) =>
    expect(() => new Verifier({ maxSize })).toThrow(/maxSize must be a bigint(?: of at most 64 bits)?, not /),
  )

  it.each<[unknown, string]>([
    [['zerosize'], 'unknown fault "zerosize" (did you mean "zero-size"?)'],
    [[3], 'unknown fault 3'],
    ['zero-size', 'allow must be an array of faults, not "zero-size"'],
  ])('refuses to allow %o, which is no fault', (allow, message) => {
    expect(() => new Verifier({ allow } as VerifyOptions)).toThrow(new RangeError(message))
    expect(() => new Repair({ allow } as VerifyOptions)).toThrow(new RangeError(message))
  })

  it('begins again with each trace, and goes on counting events', () => {
    const verifier = verify([alloc(A, 8n, { time: 9n })])
    for (const batch of batchesOf([alloc(A, 8n, { time: 1n }), free(B)], { format: 'another' })) verifier.check(batch)
    expect(verifier.findings.map(({ fault, event }) => [fault, event])).toEqual([['unknown-free', 3]])
    verifier.noteCut('the end is missing')
    expect(verifier.findings.at(-1)).toEqual({ fault: 'missing-end', event: 4, what: 'the end is missing' })
  })

  it('does not take a block without room for the one before it', () => {
    const { counts } = verify([alloc(A, 8n), free(A), alloc(B, 2n ** 50n), alloc(A, 8n), free(B), alloc(A + 4n, 8n)])
    expect(Object.fromEntries(counts)).toEqual({ 'absurd-size': 1, overlap: 1 })
  })

  it('finds the same in batches of any size', () => {
    const inBatchesOf = (events: readonly TraceEvent[], size: number) => {
      const verifier = new Verifier({ places: 100 })
      for (const batch of inBatches(events, size, { format: 'test' })) verifier.check(batch)
      return { events: verifier.events, counts: [...verifier.counts], findings: verifier.findings }
    }
    fc.assert(
      fc.property(blockEvents, fc.integer({ min: 2, max: 80 }), (events, size) => {
        expect(inBatchesOf(events, size)).toEqual(inBatchesOf(events, 1))
      }),
      { numRuns: runs(300) },
    )
    const many = Array.from({ length: 6000 }, (_, i) =>
      i % 3 === 2 ? free(A + BigInt(i) * 16n - 16n) : alloc(A + BigInt(i) * 16n, 17n),
    )
    expect(inBatchesOf(many, 10_000)).toEqual(inBatchesOf(many, 100))
  })
})
