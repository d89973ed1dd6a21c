import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import * as mtrc from '../../../lib/entry/mtrc.js'
import type { Stage } from '../../../lib/event/stage.js'
import { inflateOnNode } from '../../../lib/streams/inflate-bytes.js'
import { runStage } from '../../../lib/reading/run-stage.js'
import { concatInputs, mergeInputs } from '../../../lib/streams/merge.js'
import { openTrace } from '../../../lib/streams/io/open-trace.js'
import { encodeEvents } from '../../support/drive.js'
import { runs } from '../../support/runs.js'

const EVENTS = Array.from({ length: 9000 }, (_, i): TraceEvent => ({
  kind: 'alloc',
  index: BigInt(i + 1),
  address: BigInt(i * 64 + 64),
  size: BigInt((i * 7919) % 1000),
}))
const TRACE = encodeEvents(mtrc.format.encoder(), EVENTS, { format: 'mtrc' })

const folder = mkdtempSync(join(tmpdir(), 'heapflow-'))
const whole = join(folder, 'whole.mtrc')
writeFileSync(whole, TRACE)
const zipped = join(folder, 'whole.mtrc.gz')
writeFileSync(zipped, gzipSync(TRACE))
/** Unknown, cut within the header, malformed after some events, corrupt. */
const FAULTY = [
  Buffer.from('this is no trace'),
  TRACE.subarray(0, 6),
  Buffer.concat([TRACE.subarray(0, TRACE.length / 2), Buffer.alloc(40, 0xff)]),
  gzipSync(TRACE).subarray(0, 5000),
].map((bytes, i) => {
  const path = join(folder, `faulty-${i}`)
  writeFileSync(path, bytes)
  return path
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The test runner may open a few files of its own; a leak would add one descriptor for each iteration. */
const NOISE = 10

/** A thousand, in all tests. */
const LOOPS = runs(1000)

/** How many descriptors are open, after those that no one awaits have closed. */
async function descriptors(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 50))
  return readdirSync('/proc/self/fd').length
}

describe.skipIf(process.platform !== 'linux')('no descriptor stays open', () => {
  test.each([
    ['a file', whole],
    ['gzip', zipped],
  ])('after many loops that are left by break: %s', { timeout: 120_000 }, async (_, path) => {
    const before = await descriptors()
    for (let i = 0; i < LOOPS; i++) for await (const batch of openTrace(path).batches) if (batch.count > 0) break
    expect(await descriptors()).toBeLessThan(before + NOISE)
  })

  test('after many malformed inputs', { timeout: 120_000 }, async () => {
    const before = await descriptors()
    for (let i = 0; i < LOOPS; i++) {
      const path = FAULTY[i % FAULTY.length]
      await expect(
        (async () => {
          for await (const batch of openTrace(path)) void batch
        })(),
        path,
      ).rejects.toThrow()
    }
    expect(await descriptors()).toBeLessThan(before + NOISE)
  })

  test('after reading is aborted, closed, disposed of, or was never begun', { tags: ['slow'] }, async () => {
    const before = await descriptors()
    for (let i = 0; i < 20; i++) {
      const aborter = new AbortController()
      const aborted = openTrace(whole, { signal: aborter.signal })
      await aborted.batches.next()
      aborter.abort()
      await expect(aborted.batches.next()).rejects.toMatchObject({ name: 'AbortError' })

      const closed = openTrace(whole)
      await closed.batches.next()
      await closed.close()

      const disposed = openTrace(whole)
      await disposed.batches.next()
      await disposed[Symbol.asyncDispose]()

      openTrace(whole)
      await openTrace(whole).batches.return()
      await openTrace(whole).close()
    }
    expect(await descriptors()).toBeLessThan(before + NOISE)
  })

  test('after merging or concatenating is left, fails or is aborted', { tags: ['slow'] }, async () => {
    const before = await descriptors()
    const faulty = FAULTY[3]
    for (let i = 0; i < 20; i++) {
      for (const stream of [
        mergeInputs([{ path: whole }, { path: zipped }], { by: 'time' }),
        concatInputs([{ path: whole }, { path: zipped }]),
      ])
        for await (const batch of stream) if (batch.count > 0) break
      for (const stream of [
        mergeInputs([{ path: whole }, { path: faulty }], { by: 'time' }),
        concatInputs([{ path: faulty }, { path: whole }]),
      ])
        await expect(
          (async () => {
            for await (const batch of stream) void batch
          })(),
        ).rejects.toThrow(/faulty-3: /)
      const aborter = new AbortController()
      const aborted = mergeInputs([{ path: whole }, { path: zipped }], { by: 'time', signal: aborter.signal })
      await expect(
        (async () => {
          for await (const batch of aborted) if (batch.count > 0) aborter.abort()
        })(),
      ).rejects.toMatchObject({ name: 'AbortError' })
    }
    expect(await descriptors()).toBeLessThan(before + NOISE)
  })
})

describe('openTrace', () => {
  test('is an async iterable of batches, and counts bytes', async () => {
    const trace = openTrace(whole)
    expect(trace.bytesRead()).toBe(0)
    let events = 0
    for await (const batch of trace) events += batch.count
    expect(events).toBe(EVENTS.length)
    expect(trace.bytesRead()).toBe(TRACE.length)
  })

  test('reports what is wrong with the file when it is read', async () => {
    const directory = join(folder, 'directory')
    mkdirSync(directory)
    await expect(openTrace(directory).batches.next()).rejects.toMatchObject({ code: 'EISDIR' })
    await expect(openTrace(join(folder, 'missing')).batches.next()).rejects.toMatchObject({ code: 'ENOENT' })
    const closed = openTrace(whole)
    await closed.close()
    await expect(closed.batches.next()).rejects.toThrow('is closed')
    const aborted = openTrace(whole, { signal: AbortSignal.abort() })
    await expect(aborted.batches.next()).rejects.toMatchObject({ name: 'AbortError' })
  })

  test('refuses unknown options', () => {
    expect(() => openTrace(whole, { chunkbytes: 5 } as object)).toThrow(
      new RangeError('openTrace: unknown option "chunkbytes" (did you mean "chunkBytes"?)'),
    )
  })
})

describe('runStage closes its source', () => {
  const stage = (fails: boolean): Stage<Uint8Array, Uint8Array> => {
    let held: Uint8Array | null = null
    return {
      feed: (chunk) => void (held = chunk),
      next() {
        if (fails) throw new Error('this stage fails')
        const chunk = held
        held = null
        return chunk
      },
      end: () => {},
      endTruncated: () => {},
    }
  }

  test.each([
    ['when its consumer stops', false],
    ['when the stage fails', true],
  ])('%s', async (_, fails) => {
    let closed = 0
    const source = async function* () {
      try {
        for (;;) yield TRACE
      } finally {
        closed++
      }
    }
    const read = async () => {
      for await (const chunk of runStage(stage(fails), source(), () => {})) if (chunk.length > 0) break
    }
    if (fails) await expect(read()).rejects.toThrow('this stage fails')
    else await read()
    expect(closed).toBe(1)
  })
})

test('inflateOnNode closes its source when its consumer stops', async () => {
  let closed = 0
  const source = async function* () {
    try {
      for (;;) yield gzipSync(TRACE)
    } finally {
      closed++
    }
  }
  for await (const chunk of inflateOnNode(source(), { inflater: 'node:zlib' }, new Readable())) {
    void chunk
    break
  }
  expect(closed).toBe(1)
  for await (const chunk of inflateOnNode(source(), { inflater: 'zlib-sync' }, new Readable())) {
    void chunk
    break
  }
  expect(closed).toBe(2)
})
