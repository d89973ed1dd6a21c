import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AllocatorReplay } from '../../lib/allocators/index.js'
import { anyCall, replayRows as replayEach, writeAlloc, xorshift } from '../support/hostile-calls.js'
import { runs } from '../support/runs.js'

/** Replays events with glibc's allocator. */
function replayRows(events: number, write: Parameters<typeof replayEach>[1], replay?: AllocatorReplay) {
  const glibc = () => new AllocatorReplay({ allocator: 'ptmalloc', version: 36, bits: 64, cores: 0 })
  return replayEach(events, write, replay ?? glibc())
}

/** How an input is made: which addresses, sizes and threads there are, in how many bits. */
interface Shape {
  seed: number
  version: number
  bits: 32 | 64
  addressBits: number
  granularity: number
  sizeBits: number
  threads: number
}

const SHAPE: fc.Arbitrary<Shape> = fc.record({
  seed: fc.integer(),
  version: fc.integer({ min: 23, max: 43 }),
  bits: fc.constantFrom(32, 64),
  addressBits: fc.integer({ min: 8, max: 47 }),
  granularity: fc.constantFrom(0, 3, 4, 12, 20, 26),
  sizeBits: fc.integer({ min: 1, max: 60 }),
  threads: fc.constantFrom(1, 2, 5, 300),
})

describe('calls that no program makes', () => {
  test('take bounded time, and the same calls give the same predictions', { tags: ['slow'] }, () => {
    fc.assert(
      fc.property(SHAPE, (shape) => {
        const { version, bits } = shape
        const run = () => {
          const replay = new AllocatorReplay({ allocator: 'ptmalloc', version, bits, cores: shape.threads % 3 })
          return replayRows(8192, anyCall(shape, xorshift(shape.seed)), replay)
        }
        const { replay, seconds } = run()
        expect(seconds).toBeLessThan(10)
        expect(replay.predicted).toBe(run().replay.predicted)
      }),
      { numRuns: runs(100) },
    )
  })

  test('true calls mixed with false ones', { tags: ['slow'] }, () => {
    const rnd = xorshift(7)
    const any = anyCall({ addressBits: 24, granularity: 4, sizeBits: 12, threads: 3 }, rnd)
    const { seconds } = replayRows(200_000, any)
    expect(seconds).toBeLessThan(20)
  })
})

describe('many', { tags: ['slow'] }, () => {
  test('threads: 10^5, each with a block', () => {
    const { replay, seconds } = replayRows(300_000, (batch, row, event) => {
      const thread = event % 100_000
      writeAlloc(batch, row, thread, 0x7f00_0000_0000n + (BigInt(thread) << 26n) + 0xb70n + BigInt(event), 24n)
    })
    expect(replay.blocks).toBe(300_000)
    expect(seconds).toBeLessThan(60)
  })

  test('live blocks: 10^7, in 256 bytes each', () => {
    const before = process.memoryUsage().arrayBuffers
    let at = 0x5555_0000_02a0n
    const { replay, seconds } = replayRows(10_000_000, (batch, row, event) => {
      const size = event % 3 === 0 ? 24n : 40n
      writeAlloc(batch, row, 0, at, size)
      at += size === 24n ? 32n : 48n
    })
    expect(replay.predicted).toBe(10_000_000 - 1)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000 * 256)
    expect(seconds).toBeLessThan(120)
  })

  test('wrong predictions with many chunks in the heap', () => {
    const rnd = xorshift(3)
    let at = 0x5555_0000_02a0n
    const { replay, seconds } = replayRows(1_000_000, (batch, row, event) => {
      // After many good blocks every address is wrong.
      if (event > 500_000) at += BigInt(16 * (1 + rnd(6)))
      writeAlloc(batch, row, 0, at, 24n)
      at += 32n
    })
    expect(replay.predicted).toBeGreaterThan(499_000)
    expect(seconds).toBeLessThan(60)
  })
})
