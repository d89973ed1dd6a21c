import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { BatchArena } from '../../lib/event/arena.js'
import { EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { encodeEvents } from '../support/drive.js'
import { runs } from '../support/runs.js'
import * as replay from '../../lib/entry/replay.js'
import { sort, type SortOptions } from '../../lib/entry/index.js'
import { SpillFile } from '../../lib/streams/io/spill.js'
import { anyEvent, HEADER, inBatches } from '../transforms/events.js'

/** So little memory that every batch becomes a run, and runs are merged two at a time, in many passes. */
const NONE = 1

async function sorted(batches: Iterable<EventBatch>, options: SortOptions) {
  const stream = Readable.from(batches).pipe(sort(options))
  const warnings: string[] = []
  stream.on('warning', (text: string) => warnings.push(text))
  const out: EventBatch[] = []
  for await (const batch of stream) out.push(batch as EventBatch)
  return { out, events: out.flatMap((batch) => [...batch]), warnings }
}

function oracle(events: readonly TraceEvent[], field: 'time' | 'size'): TraceEvent[] {
  let key = -1n
  const keys = events.map((event) => (key = event[field] ?? key))
  return events
    .map((event, i) => ({ event, i }))
    .toSorted((a, b) => Number(keys[a.i] - keys[b.i]) || a.i - b.i)
    .map(({ event }) => event)
}

function timed(n: number): TraceEvent[] {
  let seed = 7
  return Array.from({ length: n }, (_, i) => {
    seed = (Math.imul(seed, 48_271) >>> 0) % 2_147_483_647
    return {
      kind: 'alloc',
      address: BigInt(i),
      time: BigInt(seed % 5000),
      function: `f${seed % 50}`,
      stack: [`f${seed % 7}`, 'main'],
    }
  })
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'heapflow-test-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

/** How many files without a name this process has open in a folder. */
function openFiles(path: string): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(path)
    } catch {
      return false
    }
  }).length
}

describe('sort', () => {
  test('is a stable sort of any events, in memory or not', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyEvent, { maxLength: 60 }),
        fc.constantFrom('time', 'size'),
        fc.constantFrom(NONE, 60_000, 1e7),
        fc.integer({ min: 1, max: 20 }),
        async (events, by, memory, size) => {
          const { events: result } = await sorted(inBatches(events, size, HEADER), { by, memory })
          expect(result).toEqual(oracle(events, by))
        },
      ),
      { numRuns: runs(150) },
    )
  })

  async function sortsMany(memory: number): Promise<void> {
    const events = timed(30_000)
    const { events: result } = await sorted(inBatches(events, 500, HEADER), { by: 'time', memory })
    expect(result).toEqual(oracle(events, 'time'))
  }
  test('sorts many events in little memory', { tags: ['slow'] }, () => sortsMany(2e6))
  test.each([NONE, 3e7])('sorts many events with %i bytes of memory', { tags: ['slow'] }, sortsMany)

  test('follows sequence numbers through their wrap', async () => {
    const numbers = Array.from({ length: 200 }, (_, i) => (2 ** 31 - 100 + (i ^ 5)) | 0)
    const { events } = await sorted(
      inBatches(
        numbers.map((sequence) => ({ kind: 'alloc', sequence })),
        9,
        HEADER,
      ),
      { by: 'sequence', memory: NONE },
    )
    expect(events.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 200 }, (_, i) => (2 ** 31 - 100 + i) | 0),
    )
  })

  test('sorts each trace of a stream on its own, and keeps those without events', async () => {
    const [a, b, c] = [{ format: 'a' }, { format: 'b' }, { format: 'c' }] as const
    const events = timed(3000)
    const batches = [...inBatches(events, 400, a), new EventBatch(0, 0, b), ...inBatches(events, 700, c)]
    const { out, events: result } = await sorted(batches, { by: 'time', memory: 200_000 })
    expect(result).toEqual([...oracle(events, 'time'), ...oracle(events, 'time')])
    expect([...new Set(out.map(({ header }) => header.format))]).toEqual(['a', 'b', 'c'])
  })

  test('uses the same memory for all traces of a stream', async () => {
    const copy = vi.spyOn(BatchArena.prototype, 'copy')
    onTestFinished(() => copy.mockRestore())
    const events = timed(1000)
    // Some go through a file, which gives the memory back.
    for (const [memory, arenas] of [
      [1e9, 1],
      [200_000, 21],
    ] as const) {
      copy.mockClear()
      const batches = Array.from({ length: 20 }, (_, i) =>
        inBatches(i % 2 === 0 ? events.slice(0, 2) : events, 400, { format: `${i}` }),
      ).flat()
      const { events: result } = await sorted(batches, { by: 'time', memory })
      expect(result).toHaveLength(10 * 1002)
      expect(
        new Set(copy.mock.contexts.map((held) => (held as unknown as { chunks: unknown }).chunks)).size,
      ).toBeLessThanOrEqual(arenas)
    }
  })

  test('keeps names whose bytes are many in batches that are not too large', async () => {
    const events = Array.from({ length: 300 }, (_, i): TraceEvent => ({
      kind: 'alloc',
      time: BigInt(i % 7),
      function: String(i).repeat(4000),
    }))
    const { out, events: result } = await sorted(inBatches(events, 20, HEADER), { by: 'time', memory: 1e9 })
    expect(result).toEqual(oracle(events, 'time'))
    expect(Math.max(...out.map(({ strings }) => strings.byteLength))).toBeLessThan(300_000)
  })

  test('warns when no event has the field', async () => {
    const events = timed(100)
    const { events: result, warnings } = await sorted(inBatches(events, 9, HEADER), { by: 'cpu' })
    expect(result).toEqual(events)
    expect(warnings).toEqual(['no event has a field "cpu"; order left unchanged'])
    expect((await sorted([], { by: 'time' })).warnings).toEqual([])
  })

  test.each<[RegExp, object | undefined]>([
    [/^sort: events cannot be sorted by undefined$/, undefined],
    [/^sort: events cannot be sorted by undefined$/, {}],
    [/^sort: events cannot be sorted by "function"$/, { by: 'function' }],
    [/^sort: events cannot be sorted by "tiem" \(did you mean "time"\?\)$/, { by: 'tiem' }],
    [/^sort: memory must be a number of bytes, not NaN$/, { by: 'time', memory: NaN }],
    [/^sort: memory must be a number of bytes, not "5M"$/, { by: 'time', memory: '5M' }],
    [/^sort: memory must be a number of bytes, not -1$/, { by: 'time', memory: -1 }],
  ])('refuses at once: %s', (message, options) => expect(() => sort(options as SortOptions)).toThrow(message))

  test('gives the events before a fault in order, then the error', async () => {
    const text = Buffer.from(
      encodeEvents(
        replay.format.encoder(),
        Array.from({ length: 5000 }, (_, i): TraceEvent => ({
          kind: 'free',
          thread: 1n,
          address: 16n,
          time: BigInt((i * 7919) % 5000),
          endTime: 9000n,
        })),
        { format: 'replay', timeUnit: 'ns' },
      ),
    )
    for (const memory of [NONE, 1e8]) {
      const stream = Readable.from([Buffer.concat([text, Buffer.from('this is no event\n')])])
        .pipe(replay.decode())
        .pipe(sort({ by: 'time', memory }))
      const times: bigint[] = []
      const read = async () => {
        for await (const batch of stream) for (const event of batch as EventBatch) times.push(event.time as bigint)
      }
      await expect(read()).rejects.toMatchObject({ code: 'ERR_TRACE_MALFORMED', event: 5001 })
      expect(times).toEqual(Array.from({ length: 5000 }, (_, i) => BigInt(i)))
    }
  })
})

describe.skipIf(process.platform !== 'linux')('temporary files', () => {
  const batches = inBatches(timed(20_000), 500, HEADER)

  test('have no name, and are closed at the end', async () => {
    const path = folder()
    const stream = Readable.from(batches).pipe(sort({ by: 'time', memory: 300_000, folder: path }))
    let most = 0
    for await (const _ of stream) {
      most = Math.max(most, openFiles(path))
      expect(readdirSync(path)).toEqual([])
    }
    expect(most).toBe(1)
    expect(openFiles(path)).toBe(0)
  })

  test('are closed when the reader goes away', async () => {
    const path = folder()
    const stream = Readable.from(batches).pipe(sort({ by: 'time', memory: 300_000, folder: path }))
    for await (const _ of stream) break
    await sleep(50)
    expect(stream.destroyed).toBe(true)
    expect(openFiles(path)).toBe(0)
  })

  test('are closed when the stream is destroyed while events come in', async () => {
    const path = folder()
    const endless = function* () {
      for (;;) yield* batches
    }
    const stream = Readable.from(endless()).pipe(sort({ by: 'time', memory: 300_000, folder: path }))
    stream.resume()
    while (openFiles(path) === 0) await sleep(1)
    stream.destroy()
    await expect.poll(() => openFiles(path)).toBe(0)
  })

  test('that cannot be made are an error', async () => {
    await expect(sorted(batches, { by: 'time', memory: NONE, folder: '/no/such/folder' })).rejects.toMatchObject({
      code: 'ENOENT',
    })
  })

  test('that became shorter are an error', async () => {
    const spill = new SpillFile(folder())
    const run = await spill.write([{ batch: batches[0], keys: new Uint32Array(1000) }])
    const read = async (from: number, to: number) => {
      for await (const { batch } of spill.read({ ...run, start: from, end: to }, HEADER))
        expect([...batch]).toEqual([...batches[0]])
    }
    await read(run.start, run.end)
    await expect(read(run.end, run.end + 100)).rejects.toThrow('a temporary file became shorter')
    await spill.close()
  })
})
