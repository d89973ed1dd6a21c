import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AllocatorReplay, AllocatorSurvey, type JemallocSettings } from '../../lib/allocators/index.js'
import { compact } from '../../lib/formats/compact/index.js'
import { ndjson } from '../../lib/formats/ndjson/index.js'
import { decodeAll, encodeAll } from '../support/drive.js'
import { anyCall, replayRows, writeAlloc, writeFree, xorshift } from '../support/hostile-calls.js'
import { runs } from '../support/runs.js'
import { replayFile, simulate } from '../support/simulate.js'

const JEMALLOC_5 = { allocator: 'jemalloc', version: 5, bits: 64, cores: 2 } as const

describe.each([
  // The place of a large block in its first page is random.
  ['jemalloc-5.3-1-thread', 0.999],
  ['jemalloc-5.3-4-threads', 0.98],
])('%s', (name, share) => {
  const batches = replayFile(new URL(`recordings/${name}.txt.gz`, import.meta.url))

  test(`at least ${100 * share} % of the blocks are predicted`, () => {
    const { blocks, wrong } = simulate(batches, JEMALLOC_5)
    expect(blocks).toBeGreaterThan(4000)
    expect(wrong).toBeLessThanOrEqual((1 - share) * blocks)
  })

  test('older versions predict less', () => {
    const { blocks, wrong } = simulate(batches, { allocator: 'jemalloc', version: 4, bits: 64 })
    expect(wrong).toBeGreaterThan(0.04 * blocks)
  })

  test('is recognized', () => {
    const survey = new AllocatorSurvey()
    for (const batch of batches) survey.add(batch)
    const { settings, isRecognized } = survey.finish()
    expect({ isRecognized, settings }).toMatchObject({
      isRecognized: true,
      settings: { allocator: 'jemalloc', version: 5, bits: 64 },
    })
  })

  test('comes back from a compact trace, also with checkpoints', { tags: ['slow'] }, () => {
    const text = Buffer.from(encodeAll(ndjson.encoder(), batches)).toString()
    for (const options of [{}, { checkpoint: 4096 }]) {
      const bytes = encodeAll(compact.encoder(options), batches)
      const back = decodeAll(compact.decoder(), bytes, 10_000)
      expect(back.error).toBeUndefined()
      expect(Buffer.from(encodeAll(ndjson.encoder(), back.batches)).toString() === text).toBe(true)
    }
  })
})

const SETTINGS: fc.Arbitrary<JemallocSettings> = fc.constantFrom<JemallocSettings>(
  { allocator: 'jemalloc', version: 3, bits: 32, entries: [16, 24] },
  { allocator: 'jemalloc', version: 3, bits: 64 },
  { allocator: 'jemalloc', version: 4, bits: 32 },
  { allocator: 'jemalloc', version: 4, bits: 64, entries: [32, 48] },
  JEMALLOC_5,
)

describe('calls that no program makes', () => {
  test('take bounded time, and the same calls give the same predictions', { tags: ['slow'] }, () => {
    const shape = fc.record({
      seed: fc.integer(),
      addressBits: fc.integer({ min: 8, max: 60 }),
      granularity: fc.constantFrom(0, 3, 4, 12, 18, 26),
      sizeBits: fc.integer({ min: 1, max: 60 }),
      threads: fc.constantFrom(1, 2, 5, 300),
    })
    fc.assert(
      fc.property(SETTINGS, shape, (settings, { seed, ...calls }) => {
        const run = () => replayRows(8192, anyCall(calls, xorshift(seed)), new AllocatorReplay(settings))
        const { replay, seconds } = run()
        expect(seconds).toBeLessThan(10)
        expect(replay.predicted).toBe(run().replay.predicted)
      }),
      { numRuns: runs(40) },
    )
  })
})

test('blocks of all sizes on a few pages, from several threads, take bounded time', { tags: ['slow'] }, () => {
  const rnd = xorshift(12_345)
  const sizes = [64n, 128n, 320n, 1024n, 8n, 4096n, 20_000n, 16n]
  const live: bigint[] = []
  for (const version of [3, 4, 5]) {
    const { seconds } = replayRows(
      60_000,
      (batch, row) => {
        if (live.length > 2000 || (live.length > 50 && rnd(100) < 48)) {
          const [address] = live.splice(rnd(live.length), 1)
          writeFree(batch, row, rnd(4), address as bigint)
        } else {
          const address = 0x7f00_0000_0000n + 64n * BigInt(rnd(4096))
          live.push(address)
          writeAlloc(batch, row, rnd(4), address, sizes[rnd(sizes.length)])
        }
      },
      new AllocatorReplay({ allocator: 'jemalloc', version, bits: 64, cores: 2 }),
    )
    expect(seconds).toBeLessThan(30)
  }
})

describe('many', { tags: ['slow'] }, () => {
  test('threads: 10^5, each with a block', () => {
    const { replay, seconds } = replayRows(
      300_000,
      (batch, row, event) => {
        const thread = event % 100_000
        writeAlloc(batch, row, thread, 0x7f00_0000_0000n + (BigInt(thread) << 16n) + 16n * BigInt(event >> 16), 24n)
      },
      new AllocatorReplay(JEMALLOC_5),
    )
    expect(replay.blocks).toBe(300_000)
    expect(seconds).toBeLessThan(60)
  })

  test('live blocks: 10^7, in 256 bytes each', () => {
    const before = process.memoryUsage().arrayBuffers
    // What the simulation expects is not known here: every run but the first is elsewhere.
    const { replay, seconds } = replayRows(
      10_000_000,
      (batch, row, event) => {
        writeAlloc(batch, row, 0, 0x7f00_0000_0000n + (BigInt(event >> 8) << 13n) + BigInt(event & 255) * 16n, 16n)
      },
      new AllocatorReplay(JEMALLOC_5),
    )
    expect(replay.blocks).toBe(10_000_000)
    expect(replay.predicted).toBeGreaterThan(9_000_000)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000 * 256)
    expect(seconds).toBeLessThan(120)
  })
})
