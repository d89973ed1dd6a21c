import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AllocatorReplay } from '../../lib/allocators/index.js'
import { BATCH_EVENTS, EventBatch } from '../../lib/event/batch.js'
import { Api, fieldSet, Kind, Outcome } from '../../lib/event/fields.js'
import { NO_HEADER } from '../../lib/event/header.js'
import { runs } from '../support/runs.js'

const COLUMNS = fieldSet('api', 'thread', 'address', 'oldAddress', 'size', 'count', 'alignment', 'outcome')
const FREE_COLUMNS = fieldSet('thread', 'address')

/** Random numbers: xorshift, from a seed. */
function random(seed: number): (limit: number) => number {
  let state = (seed | 0) === 0 ? 1 : seed | 0
  return (limit) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % limit
  }
}

/** Replays events that a function writes into rows of batches. @returns the replay, and the seconds that it took */
function replayRows(
  events: number,
  write: (batch: EventBatch, row: number, event: number) => void,
  replay = new AllocatorReplay({ allocator: 'ptmalloc', version: 36, bits: 64, cores: 0 }),
): { replay: AllocatorReplay; seconds: number } {
  const batch = new EventBatch(BATCH_EVENTS, COLUMNS, NO_HEADER)
  let milliseconds = 0
  for (let event = 0; event < events;) {
    batch.count = Math.min(BATCH_EVENTS, events - event)
    for (let row = 0; row < batch.count; row++) write(batch, row, event++)
    const before = performance.now()
    replay.add(batch)
    milliseconds += performance.now() - before
  }
  return { replay, seconds: milliseconds / 1000 }
}

function writeAlloc(batch: EventBatch, row: number, thread: number, address: bigint, size: bigint): void {
  batch.kind[row] = Kind.alloc
  batch.mask[row] = COLUMNS & ~fieldSet('oldAddress', 'outcome', 'count', 'alignment')
  batch.api[row] = Api.malloc
  batch.thread.values[row] = BigInt(thread)
  batch.address.values[row] = address
  batch.size.values[row] = size
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

/** Any event with any values. */
function writeAny(shape: Shape, rnd: (limit: number) => number) {
  const { addressBits, granularity, sizeBits, threads } = shape
  const bits = (n: number) => BigInt.asUintN(n, (BigInt(rnd(2 ** 31)) << 31n) | BigInt(rnd(2 ** 31)))
  const address = () =>
    (bits(Math.max(1, addressBits - granularity)) << BigInt(granularity)) | (rnd(2) === 0 ? 0n : 16n)
  return (batch: EventBatch, row: number): void => {
    const kind = rnd(20)
    batch.kind[row] = kind < 9 ? Kind.alloc : kind < 15 ? Kind.free : kind < 19 ? Kind.realloc : Kind['thread-destroy']
    batch.mask[row] = kind < 19 ? COLUMNS & ~(rnd(4) === 0 ? fieldSet('outcome') : 0) : FREE_COLUMNS
    batch.api[row] = rnd(6)
    batch.thread.values[row] = BigInt(rnd(threads))
    batch.address.values[row] = address()
    batch.oldAddress.values[row] = address()
    batch.size.values[row] = bits(1 + rnd(sizeBits))
    batch.elements.values[row] = BigInt(rnd(40))
    batch.alignment.values[row] = bits(1 + rnd(40))
    batch.outcome[row] = [Outcome.none, Outcome.moved, Outcome.allocated, Outcome.freed][rnd(4)] as number
  }
}

describe('calls that no program makes', () => {
  test('take bounded time, and the same calls give the same predictions', { tags: ['slow'] }, () => {
    fc.assert(
      fc.property(SHAPE, (shape) => {
        const { version, bits } = shape
        const run = () => {
          const replay = new AllocatorReplay({ allocator: 'ptmalloc', version, bits, cores: shape.threads % 3 })
          return replayRows(8192, writeAny(shape, random(shape.seed)), replay)
        }
        const { replay, seconds } = run()
        expect(seconds).toBeLessThan(10)
        expect(replay.predicted).toBe(run().replay.predicted)
      }),
      { numRuns: runs(100) },
    )
  })

  test('true calls mixed with false ones', () => {
    const rnd = random(7)
    const any = writeAny(
      { seed: 7, version: 36, bits: 64, addressBits: 24, granularity: 4, sizeBits: 12, threads: 3 },
      rnd,
    )
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
    const rnd = random(3)
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
