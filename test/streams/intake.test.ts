import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { BATCH_EVENTS, batchesOf, EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { NO_HEADER } from '../../lib/event/header.js'
import * as hatf from '../../lib/entry/hatf.js'
import * as hatfAscii from '../../lib/entry/hatf-ascii.js'
import * as heapmon from '../../lib/entry/heapmon.js'
import * as kmemtrace from '../../lib/entry/kmemtrace.js'
import * as mtrc from '../../lib/entry/mtrc.js'
import * as ndjson from '../../lib/entry/ndjson.js'
import * as replay from '../../lib/entry/replay.js'
import { events, filter, map, merge } from '../../lib/entry/index.js'
import { gzip } from '../../lib/streams/compress.js'
import { decodeAny } from '../../lib/streams/decode.js'
import { decompress } from '../../lib/streams/decompress.js'
import { sort } from '../../lib/streams/sort.js'
import { SplitFiles } from '../../lib/streams/split-files.js'
import { transformStream } from '../../lib/streams/stage.js'
import { scratch } from '../support/commands.js'
import { encodeEvents } from '../support/drive.js'

const FORMATS = { mtrc, replay, kmemtrace, heapmon, hatf, hatfAscii, ndjson }
const EVENTS: TraceEvent[] = Array.from({ length: 3 }, (_, i) => ({
  kind: 'alloc',
  address: BigInt(i + 1) * 16n,
  size: 8n,
}))
const TRACE = Buffer.from(encodeEvents(mtrc.format.encoder(), EVENTS, { format: 'mtrc' }))

type Pipe = () => NodeJS.ReadWriteStream
const TAKE_EVENTS: [string, Pipe][] = [
  ...Object.entries(FORMATS).map(([name, { encode }]): [string, Pipe] => [`${name}.encode()`, () => encode()]),
  ['filter()', () => filter({})],
  ['map()', () => map({})],
  ['sort()', () => sort({ by: 'time' })],
]
const TAKE_BYTES: [string, Pipe][] = [
  ...Object.entries(FORMATS)
    .filter(([name]) => name !== 'ndjson')
    .map(([name, { decode }]): [string, Pipe] => [`${name}.decode()`, () => decode()]),
  ['decodeAny()', () => decodeAny()],
  ['decompress()', () => decompress()],
  ['gzip()', () => gzip()],
]

/** What a stream gives of some chunks, and what it fails with. */
async function run(stream: NodeJS.ReadWriteStream, chunks: Iterable<unknown>) {
  const out: unknown[] = []
  const source = Readable.from(chunks)
  source.on('error', () => {})
  try {
    for await (const chunk of source.pipe(stream as never) as AsyncIterable<unknown>) out.push(chunk)
  } catch (error) {
    return { out, error: error as Error & { code?: string } }
  }
  return { out, error: undefined }
}

describe('a stream of events that is given bytes', () => {
  test.each(TAKE_EVENTS)('%s names the decoder that is missing', async (name, stream) => {
    const { error } = await run(stream(), [TRACE])
    expect(error).toMatchObject({ name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' })
    expect(error?.message).toBe(
      `${name} takes events, but was given bytes: they look like mpatrol MTRC, so put mtrc.decode() before it`,
    )
  })

  const zip = Buffer.concat([Buffer.from('504b030414000000', 'hex'), deflateRawSync(TRACE)])
  test.each<[string, Uint8Array | string, RegExp]>([
    ['text', '1: malloc 0x10 5\n1: free 0x10\n', /memory_replay, so put replay\.decode\(\) before it/],
    [
      'HATF in ASCII',
      Buffer.from(encodeEvents(hatfAscii.format.encoder(), EVENTS, NO_HEADER)),
      /put hatfAscii\.decode\(\)/,
    ],
    ['gzip', gzipSync(TRACE), /gzip, so put decompress\(\) and then decodeAny\(\) before it/],
    ['zip', zip, /a zip archive, so put decompress\(\)/],
    [
      'anything else',
      Buffer.from('what is this?'),
      /put a decoder before it, such as mtrc\.decode\(\), or decodeAny\(\)/,
    ],
  ])('of %s says so', async (_, bytes, message) => {
    const { error } = await run(hatf.encode(), [bytes])
    expect(error?.message).toMatch(message)
  })
})

describe('a decoder that is given compressed bytes', () => {
  test.each(Object.entries(FORMATS))('%s says what to put before it', async (name, { decode }) => {
    const { out, error } = await run(decode(), [gzipSync(TRACE)])
    expect(error).toMatchObject({ name: 'TraceError', code: 'ERR_TRACE_UNKNOWN_FORMAT', offset: 0 })
    expect(error?.message).toBe(`the input is gzip: put decompress() before ${name}.decode()`)
    expect(out.filter((batch) => (batch as EventBatch).count > 0)).toEqual([])
  })

  test('decodeAny() says so, too', async () => {
    const { error } = await run(decodeAny(), [gzipSync(TRACE)])
    expect(error?.message).toBe('the input is gzip: decompress it first, in programs with decompress()')
  })
})

describe('a stream of bytes that is given events', () => {
  test.each(TAKE_BYTES)('%s says that they need no decoder', async (name, stream) => {
    for (const chunks of [batchesOf(EVENTS), EVENTS]) {
      const { error } = await run(stream(), chunks)
      expect(error).toMatchObject({ name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' })
      expect(error?.message).toBe(
        `${name} takes bytes (a Buffer, Uint8Array or string), but was given events: they need no decoder, ` +
          'and an encoder such as ndjson.encode() makes bytes of them',
      )
    }
  })
})

test.each<[string, unknown, string]>([
  ['an array', batchesOf(EVENTS), 'an array'],
  ['a number', 7, '7'],
  ['an object', { address: 3n }, 'an object of type Object'],
  ['a map', new Map(), 'an object of type Map'],
])('%s is no event and no bytes', async (_, chunk, shown) => {
  expect((await run(hatf.encode(), [chunk])).error?.message).toBe(
    `hatf.encode() takes events (EventBatch objects, or objects such as { kind: 'free', address: 16n }), but was given ${shown}`,
  )
  expect((await run(sort({ by: 'time' }), [chunk])).error?.message).toMatch(/^sort\(\) takes events/)
  expect((await run(mtrc.decode(), [chunk])).error?.message).toBe(
    `mtrc.decode() takes bytes (a Buffer, Uint8Array or string), but was given ${shown}`,
  )
})

test('what came before a wrong chunk is kept, and the trace does not look whole', async () => {
  const { out, error } = await run(ndjson.encode(), [...batchesOf(EVENTS), { kind: 'free' }, TRACE])
  expect(error?.message).toMatch(/mtrc\.decode\(\)/)
  const lines = Buffer.concat(out as Buffer[])
    .toString()
    .trimEnd()
    .split('\n')
  expect(lines).toHaveLength(5)
  expect(lines.at(-1)).toBe('{"kind":"free"}')
})

describe('plain events', () => {
  test.each(Object.entries(FORMATS))('are written by %s as batches are', async (_, format) => {
    const write = async (chunks: Iterable<unknown>) => {
      const { out, error } = await run(format.encode(), chunks)
      expect(error).toBeUndefined()
      return Buffer.concat(out as Buffer[])
    }
    expect(await write(EVENTS)).toEqual(await write(batchesOf(EVENTS)))
  })

  test('pass through transforms in their order, mixed with batches', async () => {
    const event = (i: number): TraceEvent => ({ kind: 'alloc', size: BigInt(i) })
    const chunks: unknown[] = []
    let n = 0
    for (let i = 0; i < 300; i++) {
      if (i % 3 === 0) chunks.push(...batchesOf([event(n++), event(n++)]))
      else for (let k = 0; k < i % 50; k++) chunks.push(event(n++))
    }
    for (const stream of [filter({}), map({}), sort({ by: 'time' })]) {
      const { out } = await run(stream, chunks)
      expect((out as EventBatch[]).flatMap((batch) => [...batch]).map(({ size }) => Number(size))).toEqual(
        Array.from({ length: n }, (_, i) => i),
      )
    }
  })

  test('belong to the trace of the batch before them', async () => {
    const header = { format: 'test' }
    const { out } = await run(filter({}), [EVENTS[0], ...batchesOf(EVENTS, header), EVENTS[1]])
    expect((out as EventBatch[]).map((batch) => batch.header)).toEqual([NO_HEADER, header, header])
  })

  test('travel in large batches when they come fast', async () => {
    const many = Array.from({ length: 50_000 }, (_, i): TraceEvent => ({ kind: 'alloc', size: BigInt(i) }))
    const { out } = await run(filter({}), many)
    expect((out as EventBatch[]).reduce((sum, { count }) => sum + count, 0)).toBe(many.length)
    expect(out.length).toBeLessThan(40)
    expect(Math.max(...(out as EventBatch[]).map(({ count }) => count))).toBe(BATCH_EVENTS)
  })

  test('do not wait for more when they come slowly', async () => {
    const source = new PassThrough({ objectMode: true })
    const stream = source.pipe(filter({}))
    const got: number[] = []
    stream.on('data', (batch: EventBatch) => got.push(batch.count))
    for (let i = 1; i <= 3; i++) {
      source.write({ kind: 'free' })
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect(got).toHaveLength(i)
    }
    source.end()
  })

  test('of a slow consumer wait, and arrive', { tags: ['slow'] }, async () => {
    const seen: number[] = []
    const sink = new Writable({
      objectMode: true,
      highWaterMark: 1,
      write(batch: EventBatch, _encoding, done) {
        for (const { size } of batch) seen.push(Number(size))
        setTimeout(done, 1)
      },
    })
    const events = async function* () {
      for (let i = 0; i < 2000; i++) {
        if (i % 7 === 0) await new Promise((resolve) => setImmediate(resolve))
        yield { kind: 'alloc', size: BigInt(i) } as const
      }
    }
    await pipeline(Readable.from(events()), filter({}), map({}), sink)
    expect(seen).toEqual(Array.from({ length: 2000 }, (_, i) => i))
  })

  test('that are wrong are an error with their number, after those before', async () => {
    const { out, error } = await run(filter({}), [...EVENTS, { kind: 'alloc', addr: 3n }])
    expect((out as EventBatch[]).flatMap((batch) => [...batch])).toEqual(EVENTS)
    expect(error).toBeInstanceOf(RangeError)
    expect(error?.message).toBe('filter(): event 4: unknown field "addr" (did you mean "address"?)')
  })

  test('are split into files, and those that wait are written when it is interrupted', async () => {
    const folder = scratch()
    const split = new SplitFiles({
      by: 'kind',
      path: (key) => join(folder, key),
      encoder: () => replay.format.encoder(),
    })
    for (const event of [...EVENTS, { kind: 'free', address: 16n } as const]) split.write(event)
    await new Promise((resolve) => setTimeout(resolve, 20))
    split.destroy()
    await new Promise((resolve) => split.once('close', resolve))
    expect(readFileSync(join(folder, 'alloc.partial'), 'utf8')).toBe(
      '0: malloc 0x10 8\n0: malloc 0x20 8\n0: malloc 0x30 8\n',
    )
    expect(readFileSync(join(folder, 'free.partial'), 'utf8')).toBe('0: free 0x10\n')
    const wrong = await pipeline(
      Readable.from([TRACE]),
      new SplitFiles({ by: 'kind', path: String, encoder: () => replay.format.encoder() }),
    ).catch((error: Error) => error)
    expect((wrong as Error).message).toMatch(/^SplitFiles takes events.*mtrc\.decode\(\)/)
  })
})

test('batches of another copy of the package are batches', async () => {
  // The same columns behind another class.
  const [batch] = batchesOf(EVENTS) as [EventBatch]
  const foreign = Object.create(
    Object.create(Object.prototype, Object.getOwnPropertyDescriptors(EventBatch.prototype)) as object,
    Object.getOwnPropertyDescriptors(batch),
  ) as EventBatch
  expect(foreign).not.toBeInstanceOf(EventBatch)
  const { out, error } = await run(transformStream(filterStage()), [foreign])
  expect(error).toBeUndefined()
  expect((out as EventBatch[]).flatMap((one) => [...one])).toEqual(EVENTS)
})

function filterStage() {
  let held: EventBatch | null = null
  return {
    feed: (batch: EventBatch) => void (held = batch),
    next: () => {
      const batch = held
      held = null
      return batch
    },
    end: () => {},
    endTruncated: () => {},
  }
}

describe('a source that fails with something else than an error', () => {
  const TIMED: TraceEvent = { kind: 'alloc', address: 16n, size: 8n, time: 1n }
  const failing = async function* (thrown: unknown) {
    yield TIMED
    throw thrown
  }

  test.each([[undefined], [null], ['text'], [0]])('%s', async (thrown) => {
    const web = new ReadableStream<TraceEvent>({
      start: (controller) => controller.enqueue(TIMED),
      pull: (controller) => controller.error(thrown),
    })
    for (const source of [web, failing(thrown)]) {
      const read: TraceEvent[] = []
      const reading = (async () => {
        for await (const event of events(source)) read.push(event)
      })()
      await expect(reading).rejects.toThrow(/was thrown/)
      expect(read).toEqual([TIMED])
    }
    await expect(merge(failing(thrown), [TIMED], { by: 'time' }).toArray()).rejects.toThrow(/was thrown/)
  })
})

test('what was read of a source is not kept in memory', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const given: WeakRef<TraceEvent>[] = []
  const source = async function* () {
    for (let i = 0; i < 40_000; i++) {
      const event: TraceEvent = { kind: 'free', address: BigInt(i) }
      given.push(new WeakRef(event))
      yield event
    }
  }
  let read = 0
  let kept = -1
  for await (const _ of events(source())) {
    if (++read !== 30_000) continue
    // Weak references are kept to the end of a turn.
    await new Promise((resolve) => setTimeout(resolve))
    collectGarbage()
    kept = given.filter((event) => event.deref() !== undefined).length
  }
  expect(read).toBe(40_000)
  expect(kept).toBeLessThan(2 * BATCH_EVENTS)
})
