import { describe, expect, test } from 'vitest'
import { AllocatorReplay, AllocatorSurvey, Prediction, type AllocatorSettings } from '../../lib/allocators/index.js'
import { batchesOf, type TraceEvent } from '../../lib/event/batch.js'
import { replayFile, simulate } from '../support/simulate.js'

const GLIBC: AllocatorSettings = { allocator: 'ptmalloc', version: 36, bits: 64 }
const fixture = (name: string) => replayFile(new URL(`../fixtures/replay/${name}`, import.meta.url))

describe('real traces', () => {
  test.each([
    ['git.txt.gz', 148_057, 3],
    ['twolf-head.txt', 1652, 1],
    ['mstress-head.txt.gz', 15_343, 2],
  ])('%s is predicted', (name, blocks, wrong) => {
    const result = simulate(fixture(name), GLIBC)
    expect(result.blocks).toBe(blocks)
    expect(result.wrong).toBeLessThanOrEqual(wrong)
  })

  test('the same trace gives the same predictions, also after a restart', () => {
    const batches = fixture('mstress-head.txt.gz')
    const replay = new AllocatorReplay(GLIBC)
    const run = () => {
      const addresses: bigint[] = []
      for (const batch of batches) replay.add(batch, (_, __, predicted) => addresses.push(...predicted))
      return addresses
    }
    const first = run()
    replay.restart(GLIBC)
    expect(run()).toEqual(first)
    expect(first.length).toBe(40_000)
  })
})

describe('AllocatorReplay', () => {
  const malloc = (address: bigint, size: bigint): TraceEvent => ({ kind: 'alloc', api: 'malloc', address, size })
  const free = (address: bigint): TraceEvent => ({ kind: 'free', address })

  /** What becomes of each prediction. */
  function results(events: readonly TraceEvent[], settings = GLIBC): number[] {
    const found: number[] = []
    const replay = new AllocatorReplay(settings)
    for (const batch of batchesOf(events)) replay.add(batch, (_, each) => found.push(...each))
    return found
  }
  const { none, right, wrong } = Prediction

  test('knows where blocks are once it has seen the first', () => {
    expect(
      results([
        malloc(0x5555_0000_02a0n, 24n),
        malloc(0x5555_0000_02c0n, 24n),
        free(0x5555_0000_02a0n),
        malloc(0x5555_0000_02a0n, 20n),
        malloc(0x5555_0000_02e0n, 1000n),
        { kind: 'realloc', oldAddress: 0x5555_0000_02e0n, address: 0x5555_0000_02e0n, size: 2000n },
      ]),
    ).toEqual([wrong, right, none, right, right, right])
  })

  test('goes on from a wrong prediction', () => {
    expect(
      results([
        malloc(0x5555_0000_02a0n, 24n),
        // Something unseen took a chunk of 0x40 bytes.
        malloc(0x5555_0000_0300n, 24n),
        malloc(0x5555_0000_0320n, 24n),
      ]),
    ).toEqual([wrong, wrong, right])
  })

  test('takes no failed call, no free of null or of an unknown block for a block', () => {
    const events: TraceEvent[] = [
      malloc(0n, 10n),
      free(0n),
      free(0x1234n),
      { kind: 'realloc', oldAddress: 0n, address: 0n, size: 0n },
      { kind: 'comment', text: 'hello' },
    ]
    expect(results(events)).toEqual([none, none, none, none, none])
  })

  test.each<[Record<string, unknown>, RegExp]>([
    [{ version: 22 }, /version must be a whole number from 23 to 4\d, not 22/],
    [{ version: 99 }, /version must be a whole number/],
    [{ bits: 16 }, /bits is 32 or 64, not 16/],
    [{ cores: -1 }, /cores must be a whole number from 0/],
    [{ stack: 0.5 }, /stack must be a whole number/],
    [{ allocator: 'hoard' }, /unknown allocator "hoard"/],
  ])('refuses %j', (change, message) => {
    expect(() => new AllocatorReplay({ ...GLIBC, ...change } as AllocatorSettings)).toThrow(message)
  })

  test.each<[Record<string, unknown>, RegExp]>([
    [{ version: 2 }, /version must be a whole number from 3 to 5, not 2/],
    [{ version: 5, bits: 32 }, /jemalloc 5 is simulated for 64 bits only/],
    [{ entries: [16, -1] }, /entries must be a whole number from 0/],
    [{ stack: 0 }, /stack/],
  ])('refuses %j of jemalloc', (change, message) => {
    const settings = { allocator: 'jemalloc', version: 3, bits: 32, ...change } as AllocatorSettings
    expect(() => new AllocatorReplay(settings)).toThrow(message)
  })
})

describe('AllocatorSurvey', () => {
  test('of a trace without blocks has no settings', () => {
    const { settings, blocks } = new AllocatorSurvey().finish()
    expect(settings).toBeUndefined()
    expect(blocks).toBe(0)
  })

  test('does not recognize addresses that no allocator gave', () => {
    const survey = new AllocatorSurvey()
    const events = Array.from({ length: 5000 }, (_, i): TraceEvent => {
      return { kind: 'alloc', api: 'malloc', address: BigInt(Math.imul(i, 0x9e37_79b1) >>> 0) << 6n, size: 100n }
    })
    for (const batch of batchesOf(events)) survey.add(batch)
    const { isRecognized, blocks, predicted } = survey.finish()
    expect(blocks).toBe(5000 - 1)
    expect(predicted).toBeLessThan(500)
    expect(isRecognized).toBe(false)
  })
})
