import { execFileSync } from 'node:child_process'
import { Duplex, PassThrough, Readable, Transform, Writable } from 'node:stream'
import * as streams from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { EventBatch, TraceEvent } from '../../lib/event/batch.js'
import { compose, decodeAny, filter, merge, mtrc } from '../../lib/entry/index.js'
import { MtrcEncoder } from '../../lib/formats/mtrc/encode.js'
import { encodeEvents } from '../support/drive.js'

const EVENTS = Array.from({ length: 400 }, (_, i): TraceEvent => ({
  kind: 'alloc',
  thread: 1n,
  time: BigInt(i),
  address: BigInt(i + 1) * 16n,
  size: 8n,
}))
const TRACE = Buffer.from(encodeEvents(new MtrcEncoder(), EVENTS, { format: 'mtrc' }))
/** The events of a trace that lacks its last 16 bytes: these are of the last two events, and the end record. */
const WHOLE = EVENTS.length - 2

/** A trace without its end, in chunks of some events each. */
function truncated(): Readable {
  const cut = TRACE.subarray(0, TRACE.length - 16)
  return Readable.from(
    Array.from({ length: 12 }, (_, i) => cut.subarray((i * cut.length) / 12, ((i + 1) * cut.length) / 12)),
  )
}

/** Streams of events of each sort that the library makes, whose last one is read. */
const MADE: [string, () => Duplex[]][] = [
  ['around a stage', () => [truncated(), mtrc.decode()] as unknown as Duplex[]],
  ['around a generator', () => [truncated(), decodeAny()] as unknown as Duplex[]],
  ['after others', () => [truncated(), mtrc.decode(), filter({})] as unknown as Duplex[]],
  ['composed', () => [truncated(), compose(mtrc.decode(), filter({}))] as unknown as Duplex[]],
  ['that merges', () => [merge(truncated(), { by: 'time' })] as unknown as Duplex[]],
]

type Take = (batch: EventBatch) => void
type Batches = AsyncIterable<EventBatch>

const readAll = async (batches: Batches, take: Take) => {
  for await (const batch of batches) {
    await sleep(2)
    take(batch)
  }
}

async function* slowly(batches: Batches): AsyncGenerator<EventBatch> {
  for await (const batch of batches) {
    await sleep(2)
    yield batch
  }
}

const sink = (take: Take, highWaterMark: number) =>
  new Writable({
    objectMode: true,
    highWaterMark,
    write(batch: EventBatch, _encoding, done) {
      setTimeout(() => {
        take(batch)
        done()
      }, 2)
    },
  })

/** The last of the streams, with the others piped into it. */
const joined = (all: Duplex[]): Readable => all.reduce((before, stream) => before.pipe(stream))
const web = (all: Duplex[]) => Readable.toWeb(joined(all)) as unknown as ReadableStream<EventBatch>

/** `pipeline` of any number of streams and functions, for which Node has no type. */
const inTurn = (all: Duplex[], ...rest: unknown[]) => pipeline([...all, ...rest] as Duplex[])

/** Each resolves or rejects when the consumer has the end or the error. */
const WAYS: Record<string, (all: Duplex[], take: Take) => Promise<unknown>> = {
  'for await': (all, take) => readAll(joined(all), take),
  "on('data')": (all, take) => new Promise((_, reject) => joined(all).on('data', take).on('error', reject)),
  'pause() and resume()': (all, take) =>
    new Promise((_, reject) => {
      const last = joined(all)
      last.on('error', reject).on('data', (batch: EventBatch) => {
        last.pause()
        setTimeout(() => {
          if (!last.destroyed) take(batch)
          last.resume()
        }, 2)
      })
    }),
  "on('readable')": (all, take) =>
    new Promise((_, reject) => {
      const last = joined(all)
      last.on('error', reject).on('readable', () => {
        for (let batch = last.read() as EventBatch | null; batch !== null; batch = last.read() as EventBatch | null)
          take(batch)
      })
    }),
  'an async function in pipeline': (all, take) => inTurn(all, (source: Batches) => readAll(source, take)),
  'a generator and a function in pipeline': (all, take) =>
    inTurn(all, slowly, (source: Batches) => readAll(source, take)),
  'a generator and a sink with a highWaterMark of 1 in pipeline': (all, take) => inTurn(all, slowly, sink(take, 1)),
  'a sink in pipeline': (all, take) => pipeline([...all, sink(take, 16)]),
  'a PassThrough and a sink in pipeline': (all, take) =>
    pipeline([...all, new PassThrough({ objectMode: true }), sink(take, 4)]),
  'a Transform that takes time in pipeline': (all, take) => {
    const slow = new Transform({
      objectMode: true,
      transform: (batch: EventBatch, _encoding, done) => void setTimeout(done, 2, null, batch),
    })
    return pipeline([...all, slow, sink(take, 4)])
  },
  map: (all, take) =>
    readAll(
      joined(all).map((batch: EventBatch) => sleep(2, batch)),
      take,
    ),
  'map of several at once': (all, take) =>
    readAll(
      joined(all).map((batch: EventBatch) => sleep(2, batch), { concurrency: 4 }),
      take,
    ),
  forEach: (all, take) => joined(all).forEach(async (batch: EventBatch) => take(await sleep(2, batch))),
  'Readable.from': (all, take) => readAll(Readable.from(joined(all)), take),
  'a reader of Readable.toWeb': async (all, take) => {
    const reader = web(all).getReader()
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      await sleep(2)
      take(next.value)
    }
  },
  'Readable.toWeb and pipeThrough': (all, take) =>
    readAll(web(all).pipeThrough(new TransformStream()) as unknown as Batches, take),
  'Readable.toWeb and pipeTo': (all, take) =>
    web(all).pipeTo(
      new WritableStream({
        async write(batch) {
          await sleep(2)
          take(batch)
        },
      }),
    ),
}

describe.each(MADE)('before a fault, all events of a stream %s reach', (_, make) => {
  test.each(Object.entries(WAYS))('%s', async (_name, consume) => {
    let events = 0
    await expect(consume(make(), (batch) => (events += batch.count))).rejects.toMatchObject({
      code: 'ERR_TRACE_TRUNCATED',
    })
    expect(events).toBe(WHOLE)
  })
})

test('a composed stream can be made a web stream', async () => {
  const { readable, writable } = Duplex.toWeb(compose(mtrc.decode(), filter({})) as unknown as Duplex) as unknown as {
    readable: Batches
    writable: WritableStream<Uint8Array>
  }
  const writer = writable.getWriter()
  const writing = writer.write(TRACE).then(() => writer.close())
  let events = 0
  await readAll(readable, (batch) => (events += batch.count))
  await writing
  expect(events).toBe(EVENTS.length)
})

test("a composed stream has Node's compose", async () => {
  const { compose: nodeCompose } = streams as unknown as { compose?: unknown }
  expect(nodeCompose).toBeTypeOf('function')
  const composed = joined([Readable.from([TRACE]), compose(mtrc.decode(), filter({}))] as unknown as Duplex[])
  let events = 0
  await readAll(
    (composed as unknown as { compose(next: unknown): Batches }).compose(slowly),
    (b) => (events += b.count),
  )
  expect(events).toBe(EVENTS.length)
})

test('an error that waits for a slow sink is not lost when nothing else is left to do', { tags: ['slow'] }, () => {
  const script = `
    import { Readable, Writable } from 'node:stream'
    import { pipeline } from 'node:stream/promises'
    import { mtrc } from '${new URL('../../dist/lib/entry/index.js', import.meta.url).href}'
    const trace = Buffer.from('${TRACE.toString('base64')}', 'base64').subarray(0, -16)
    let events = 0
    const sink = new Writable({ objectMode: true, write: (batch, _, done) => setTimeout(() => {
      events += batch.count
      done()
    }, 60) })
    pipeline(Readable.from([trace]), mtrc.decode(), sink).catch((error) => console.log(events, error.code))`
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], { timeout: 20_000 })
  expect(said.toString()).toBe(`${WHOLE} ERR_TRACE_TRUNCATED\n`)
})
