import { describe, expect, test } from 'vitest'
import { AllocatorReplay, AllocatorSurvey } from '../../lib/allocators/index.js'
import { recognize } from '../../lib/allocators/recognize.js'
import { batchesOf, type EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { compact } from '../../lib/formats/compact/index.js'
import { decodeAll, encodeAll } from '../support/drive.js'
import { replayFile } from '../support/simulate.js'

const recording = (name: string) => replayFile(new URL(`recordings/${name}.txt.gz`, import.meta.url))
const NOT_PIE = 'glibc-2.36-64-bit-no-pie-1-thread'
const LATE_THREADS = 'glibc-2.36-64-bit-4-late-threads'

/** The first bytes of the settings in the first trace section of a compact trace. */
function settingsOf(batches: Iterable<EventBatch>): number[] {
  const bytes = encodeAll(compact.encoder({ fast: true }), batches)
  return [...bytes.subarray(42, 42 + Math.min(3, bytes[17]))]
}

describe('a program whose heap begins below 4 GiB', () => {
  test('has words of 64 bits', () => {
    const batches = recording(NOT_PIE)
    const found = recognize(batches, false)
    expect(found[0]).toMatchObject({ settings: { allocator: 'ptmalloc', version: 36, bits: 64 }, wrong: 1 })
    expect(settingsOf(batches)).toEqual([1, 36, 64])
  })

  test('has all versions that predict as much, the likeliest one first', () => {
    const versions = recognize(recording(NOT_PIE), true).map(({ settings, wrong }) => [settings.version, wrong])
    expect(versions).toEqual([[36, 1], [34, 1]]) // prettier-ignore
  })

  test('has words of 32 bits if it has', () => {
    const found = recognize(recording('glibc-2.36-32-bit-1-thread'), false)
    expect(found[0]).toMatchObject({ settings: { version: 36, bits: 32 } })
  })
})

test(
  'of versions that predict as much, the one that is right about threads which start late is found',
  { tags: ['slow'] },
  () => {
    const batches = recording(LATE_THREADS)
    const first = recognize(batches.slice(0, 1), true).map(({ settings }) => settings.version)
    expect(first).toEqual(expect.arrayContaining([34, 36, 40]))
    const survey = new AllocatorSurvey()
    for (const batch of batches) survey.add(batch)
    const { versions, blocks, predicted } = survey.finish()
    expect(versions).toEqual([35, 36])
    expect(blocks - predicted).toBeLessThanOrEqual(3)
  },
)

describe('threads of glibc 2.31 that start after the trial', () => {
  // Before them, 35,000 large blocks come and go at the end of the heap, which leaves no trace there.
  const recorded = recording('glibc-2.31-64-bit-4-threads').flatMap((batch) => [...batch])
  const [first, second] = recorded as [TraceEvent, TraceEvent]
  const thread = first.thread as bigint
  const address = second.address as bigint
  const pair: TraceEvent[] = [
    { kind: 'alloc', api: 'malloc', thread, address, size: 2000n },
    { kind: 'free', api: 'free', thread, address },
  ]
  const pairs = Array.from({ length: 70_000 }, (_, i) => pair[i % 2])
  const batches = [...batchesOf([first, ...pairs, ...recorded.slice(1)])]

  function wrong(learns: boolean): number {
    const replay = new AllocatorReplay({ allocator: 'ptmalloc', version: 36, bits: 64, learns })
    for (const batch of batches) replay.add(batch)
    return replay.blocks - replay.predicted
  }

  test('show with their first addresses that the version is before 2.35', () => {
    expect(wrong(false)).toBeGreaterThan(1000)
    expect(wrong(true)).toBeLessThanOrEqual(20)
  })

  test.each(['fast', 'best'] as const)('take few bytes in a compact trace of the %s level, and come back', (level) => {
    const file = encodeAll(compact.encoder({ [level]: true }), batches)
    // The flag that the simulation learns.
    expect(file[42 + 3]).toBe(1)
    expect(file.length).toBeLessThan(10_500)
    const { events, error } = decodeAll(compact.decoder(), file)
    expect(error).toBeUndefined()
    expect(events).toEqual(batches.flatMap((batch) => [...batch]))
    expect(encodeAll(compact.encoder({ [level]: true }), batches)).toEqual(file)
  })
})

test('what is recognized does not depend on how the events are cut into batches', () => {
  const batches = recording(NOT_PIE)
  const events = batches.flatMap((batch) => [...batch])
  const pieces = Array.from({ length: 20 }, (_, i) => [...batchesOf(events.slice(200 * i, 200 * i + 200))]).flat()
  expect(recognize(pieces, true)).toEqual(recognize(batches, true))
})

test('addresses that no allocator gave are not recognized', () => {
  const events = Array.from({ length: 5000 }, (_, i): TraceEvent => {
    return { kind: 'alloc', api: 'malloc', address: BigInt(Math.imul(i, 0x9e37_79b1) >>> 0) << 6n, size: 100n }
  })
  expect(recognize([...batchesOf(events)], true)).toEqual([])
  expect(settingsOf(batchesOf(events))).toEqual([])
})
