import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addAbortSignal, Duplex, finished, PassThrough, Readable, Transform, Writable } from 'node:stream'
import * as stream from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import type { EventBatch, TraceEvent } from '../../lib/event/batch.js'
import { compose, decodeAny, decompress, filter, gzip, merge, mtrc, ndjson, sort } from '../../lib/entry/index.js'
import { allAccept } from '../../lib/streams/failure.js'
import { encodeEvents } from '../support/drive.js'
import { NdjsonEncoder } from '../../lib/formats/ndjson/encode.js'

const EVENTS = Array.from({ length: 9000 }, (_, i): TraceEvent => ({ kind: 'alloc', time: BigInt(i), size: 8n }))
const LINES = Buffer.from(encodeEvents(new NdjsonEncoder(), EVENTS, { format: 'test' }))
const BROKEN = Buffer.concat([LINES.subarray(0, LINES.lastIndexOf('{"kind":"end"')), Buffer.from('no event\n')])

const folder = mkdtempSync(join(tmpdir(), 'heapflow-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** One of each sort of stream that the library makes. */
const MAKE: [string, () => Duplex][] = [
  ['around a stage', () => mtrc.decode() as unknown as Duplex],
  ['around a generator', () => sort({ by: 'time' }) as unknown as Duplex],
  ['composed', () => compose(decompress(), ndjson.decode()) as unknown as Duplex],
]

/** What `EventStream` and `ByteStream` promise. */
const METHODS =
  `addListener destroy drop end every filter find flatMap forEach isPaused iterator map off on once pause pipe
  push read reduce removeListener resume setEncoding some take toArray unpipe unshift write cork uncork`.split(/\s+/)

describe.each(MAKE)('a stream %s', (_, make) => {
  test("has the methods of Node's streams, and is an instance of none of their classes", () => {
    const one = make() as unknown as Record<string, unknown>
    expect(METHODS.filter((name) => typeof one[name] !== 'function')).toEqual([])
    for (const Class of [Readable, Duplex, Transform]) expect(one).not.toBeInstanceOf(Class)
  })

  test('can be aborted and watched', async () => {
    const aborter = new AbortController()
    const aborted = addAbortSignal(aborter.signal, make())
    const error = new Promise((resolve) => finished(aborted, resolve))
    aborter.abort()
    expect(await error).toMatchObject({ name: 'AbortError' })
    expect(aborted.destroyed).toBe(true)
  })
})

test.each<[string, () => Readable]>([
  ...MAKE.slice(0, 2),
  ['that merges', () => merge(EVENTS, EVENTS) as unknown as Readable],
])('a stream %s keeps its consumers in the private field that failures rely on', (_, make) => {
  const source = make()
  const state = (source as unknown as { _readableState: { pipes: unknown } })._readableState
  expect(state.pipes).toEqual([])
  const [first, second] = [filter({}), new PassThrough({ objectMode: true })]
  source.pipe(first)
  expect(state.pipes).toEqual([first])
  expect(allAccept(source)).toBe(true)
  source.pipe(second)
  expect(state.pipes).toEqual([first, second])
  expect(allAccept(source)).toBe(false)
  source.unpipe(second)
  expect(allAccept(source)).toBe(true)
  source.destroy()
})

describe('streams work with', () => {
  test('web streams', async () => {
    const web = Duplex.toWeb(ndjson.decode() as unknown as Duplex) as {
      readable: AsyncIterable<EventBatch>
      writable: { getWriter(): { write(chunk: Uint8Array): Promise<void>; close(): Promise<void> } }
    }
    const writer = web.writable.getWriter()
    const writing = writer.write(LINES).then(() => writer.close())
    let events = 0
    for await (const batch of web.readable) events += batch.count
    await writing
    expect(events).toBe(EVENTS.length)
  })

  test("Node's compose", async () => {
    const { compose: nodeCompose } = stream as unknown as { compose(...streams: unknown[]): Duplex }
    const both = nodeCompose(ndjson.decode(), filter({ events: { from: 1n, to: 10n } }), ndjson.encode())
    const chunks = (await Readable.from([LINES]).pipe(both).toArray()) as Buffer[]
    expect(Buffer.concat(chunks).toString().trimEnd().split('\n')).toHaveLength(12)
  })

  test('helpers of iteration', async () => {
    for (const decode of [ndjson.decode(), compose(decompress(), ndjson.decode())]) {
      const counts = await Readable.from([LINES])
        .pipe(decode)
        .map((batch: EventBatch) => batch.count)
        .toArray()
      expect((counts as number[]).reduce((sum, n) => sum + n, 0)).toBe(EVENTS.length)
    }
  })

  test('gzip on both sides', async () => {
    const zipped = (await Readable.from([LINES]).pipe(gzip()).toArray()) as Buffer[]
    let events = 0
    for await (const batch of Readable.from(zipped).pipe(decompress()).pipe(decodeAny())) events += batch.count
    expect(events).toBe(EVENTS.length)
  })
})

describe('all events before a fault arrive', () => {
  const count = async (source: AsyncIterable<EventBatch>) => {
    let events = 0
    try {
      for await (const batch of source) {
        events += batch.count
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    } catch (error) {
      return { events, error }
    }
    return { events, error: undefined }
  }
  const broken = () => Readable.from([BROKEN])

  test('in a loop, in an async function, and through our own streams', async () => {
    const whole = { events: EVENTS.length, error: expect.objectContaining({ code: 'ERR_TRACE_MALFORMED' }) as unknown }
    expect(await count(broken().pipe(ndjson.decode()))).toEqual(whole)
    expect(await count(broken().pipe(ndjson.decode()).pipe(filter({})))).toEqual(whole)
    expect(await count(broken().pipe(compose(ndjson.decode(), filter({}))))).toEqual(whole)
  })

  test('in a slow function at the end of a pipeline', async () => {
    let events = 0
    const sink = async (batches: AsyncIterable<EventBatch>) => {
      for await (const batch of batches) {
        events += batch.count
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    }
    await expect(pipeline(broken(), compose(ndjson.decode(), filter({})), sink)).rejects.toMatchObject({
      code: 'ERR_TRACE_MALFORMED',
    })
    expect(events).toBe(EVENTS.length)
  })

  test.each<[string, () => [] | [ReturnType<typeof gzip>], (bytes: Buffer) => Buffer]>([
    ['a file', () => [], (bytes) => bytes],
    ['a compressed file', () => [gzip()], (bytes) => gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH })],
  ])('in %s after an encoder', async (_, compress, text) => {
    const path = join(folder, 'broken.ndjson')
    const file = createWriteStream(path)
    // The file is complete when it is closed, which may be after the pipeline has failed.
    const closed = new Promise((resolve) => file.on('close', () => resolve(undefined)))
    await expect(pipeline([broken(), ndjson.decode(), ndjson.encode(), ...compress(), file])).rejects.toMatchObject({
      code: 'ERR_TRACE_MALFORMED',
    })
    await closed
    expect(text(readFileSync(path)).toString()).toBe(BROKEN.subarray(0, BROKEN.lastIndexOf('no event')).toString())
  })

  test('in a sink, and through a Transform, of another maker', async () => {
    let events = 0
    const slow = new Writable({
      objectMode: true,
      write(batch: EventBatch, _encoding, done) {
        setTimeout(() => {
          events += batch.count
          done()
        }, 5)
      },
    })
    await expect(pipeline(broken(), ndjson.decode(), slow)).rejects.toMatchObject({ code: 'ERR_TRACE_MALFORMED' })
    expect(events).toBe(EVENTS.length)

    for (const decode of [ndjson.decode(), compose(ndjson.decode(), filter({}))]) {
      const passed = new PassThrough({ objectMode: true })
      const counting = count(passed)
      await expect(pipeline(broken(), decode, passed)).rejects.toMatchObject({ code: 'ERR_TRACE_MALFORMED' })
      expect(await counting).toMatchObject({ events: EVENTS.length, error: expect.anything() as unknown })
    }
  })

  test('also few, in a file that is not open yet', async () => {
    const path = join(folder, 'few.ndjson')
    const few = Buffer.concat([LINES.subarray(0, LINES.indexOf('\n', 500) + 1), Buffer.from('no event\n')])
    const file = createWriteStream(path, { highWaterMark: 1 << 20 })
    const closed = new Promise((resolve) => file.on('close', () => resolve(undefined)))
    await expect(pipeline(Readable.from([few]), ndjson.decode(), ndjson.encode(), file)).rejects.toMatchObject({
      code: 'ERR_TRACE_MALFORMED',
    })
    await closed
    expect(`${readFileSync(path, 'utf8')}no event\n`).toBe(few.toString())
  })

  test('but the error does not wait for a sink that is destroyed', async () => {
    const stuck = new Writable({ objectMode: true, write: () => {} })
    const done = pipeline(broken(), ndjson.decode(), stuck)
    setTimeout(() => stuck.destroy(new Error('given up')), 20)
    await expect(done).rejects.toThrow()
  })
})
