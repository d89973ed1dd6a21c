import { execFileSync } from 'node:child_process'
import { PassThrough, Readable, Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, expect, test } from 'vitest'
import { batchesOf, type EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { TraceError } from '../../lib/event/error.js'
import type { Stage } from '../../lib/event/stage.js'
import * as glibcMtrace from '../../lib/entry/glibc-mtrace.js'
import * as hatf from '../../lib/entry/hatf.js'
import * as mtrc from '../../lib/entry/mtrc.js'
import * as ndjson from '../../lib/entry/ndjson.js'
import * as valgrind from '../../lib/entry/valgrind.js'
import * as replay from '../../lib/entry/replay.js'
import { compose, filter, map } from '../../lib/entry/index.js'
import { decoderStream, encoderStream, transformStream } from '../../lib/entry/stages.js'
import { encodeEvents } from '../support/drive.js'

const EVENTS: TraceEvent[] = Array.from({ length: 9000 }, (_, i) => ({
  kind: 'alloc',
  thread: BigInt(i % 3),
  address: BigInt(i + 1) * 16n,
  size: 8n,
}))
const TEXT = Buffer.from(encodeEvents(replay.format.encoder(), EVENTS, { format: 'replay' }))
const BROKEN = Buffer.concat([TEXT, Buffer.from('this is no event\n')])

async function eventsOf(stream: AsyncIterable<EventBatch>): Promise<{ events: TraceEvent[]; error: unknown }> {
  const events: TraceEvent[] = []
  try {
    for await (const batch of stream) events.push(...batch)
  } catch (error) {
    return { events, error }
  }
  return { events, error: undefined }
}

/** A sink that takes its time, and keeps what it got. */
function slowSink(delay = 1): Writable & { bytes(): Buffer } {
  const parts: Buffer[] = []
  const sink = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done) {
      parts.push(Buffer.from(chunk))
      setTimeout(done, delay)
    },
  })
  return Object.assign(sink, { bytes: () => Buffer.concat(parts) })
}

describe('a pipeline of streams', () => {
  test('converts, filters and maps in one process', async () => {
    const sink = slowSink()
    await pipeline(
      Readable.from([TEXT]),
      replay.decode(),
      filter({ thread: 1n }),
      map({ numberThreads: true }),
      mtrc.encode(),
      sink,
    )
    const { events } = await eventsOf(Readable.from([sink.bytes()]).pipe(mtrc.decode()))
    expect(events).toHaveLength(3000)
    expect(events[2]).toMatchObject({ kind: 'alloc', thread: 1n, index: 3n, address: 128n })
  })

  test('takes text as well as bytes, and gives Buffers', async () => {
    const stream = Readable.from(['1: malloc 0x10 5\n', '1: free 0x10\n']).pipe(replay.decode()).pipe(ndjson.encode())
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk as Buffer)
    expect(chunks.every((chunk) => Buffer.isBuffer(chunk))).toBe(true)
    expect(Buffer.concat(chunks).toString()).toContain('{"kind":"end","events":2}\n')
  })

  test('says what the target format could not represent', async () => {
    const encode = hatf.encode()
    let losses: ReadonlyMap<string, number> | undefined
    encode.on('losses', (counts: ReadonlyMap<string, number>) => (losses = counts))
    const index: TraceEvent[] = [{ kind: 'alloc', address: 16n, size: 1n, index: 7n }]
    await pipeline(Readable.from(batchesOf(index, { format: 'mtrc' })), encode, slowSink())
    expect(losses).toEqual(new Map([['index', 1]]))
  })
})

describe('a failure', () => {
  test('comes after every event before it, for who reads the decoder itself', async () => {
    const { events, error } = await eventsOf(Readable.from([BROKEN]).pipe(replay.decode()))
    expect(events).toHaveLength(EVENTS.length)
    expect(error).toBeInstanceOf(TraceError)
    expect(error).toMatchObject({ format: 'replay', event: EVENTS.length + 1 })
  })

  test('loses nothing on its way through a pipeline, however slow the sink', async () => {
    const sink = slowSink()
    await expect(
      pipeline(Readable.from([BROKEN]), replay.decode(), filter({}), map({}), ndjson.encode(), sink),
    ).rejects.toBeInstanceOf(TraceError)
    const lines = sink.bytes().toString().trimEnd().split('\n')
    expect(lines).toHaveLength(1 + EVENTS.length)
    expect(lines.at(-1)).toMatch(/^\{"kind":"alloc"/)
  })

  test('loses nothing inside a composed stream', async () => {
    const sink = slowSink()
    const composed = compose(replay.decode(), filter({}), ndjson.encode())
    await expect(pipeline(Readable.from([BROKEN]), composed, sink)).rejects.toBeInstanceOf(TraceError)
    expect(sink.bytes().toString().trimEnd().split('\n')).toHaveLength(1 + EVENTS.length)
  })

  test('leaves formats with an end mark without it', async () => {
    const sink = slowSink()
    await expect(pipeline(Readable.from([BROKEN]), replay.decode(), mtrc.encode(), sink)).rejects.toBeInstanceOf(
      TraceError,
    )
    const { events, error } = await eventsOf(Readable.from([sink.bytes()]).pipe(mtrc.decode()))
    expect(events).toHaveLength(EVENTS.length)
    expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED' })
  })

  test('passes a stage of other makers at the head of a composed stream as an ordinary error', async () => {
    const foreign = new Transform({
      objectMode: true,
      transform: (batch: EventBatch, _encoding, done) => done(null, batch.count > 0 ? batch : undefined),
    })
    const sink = slowSink()
    await expect(
      pipeline(Readable.from([BROKEN]), replay.decode(), compose(foreign, ndjson.encode()), sink),
    ).rejects.toBeInstanceOf(TraceError)
  })

  test('of a stage in feed, end or endTruncated is its own, and ends the pipeline', async () => {
    for (const name of ['feed', 'end', 'endTruncated'] as const) {
      const stage: Stage<EventBatch, EventBatch> = {
        feed: () => {},
        next: () => null,
        end: () => {},
        endTruncated: () => {},
      }
      stage[name] = () => {
        throw new Error(`thrown by ${name}`)
      }
      const source = name === 'endTruncated' ? BROKEN : TEXT
      await expect(
        pipeline(Readable.from([source]), replay.decode(), transformStream(stage), ndjson.encode(), slowSink()),
      ).rejects.toThrow(`thrown by ${name}`)
    }
  })

  test('of the sink ends the source', async () => {
    const source = Readable.from(endless())
    const sink = new Writable({ write: (_chunk, _encoding, done) => done(new Error('full')) })
    await expect(pipeline(source, replay.decode(), ndjson.encode(), sink)).rejects.toThrow('full')
    expect(source.destroyed).toBe(true)
  })
})

function* endless(): Generator<Buffer> {
  for (;;) yield TEXT
}

describe('backpressure', () => {
  test('holds from the slowest stage back to the source', { tags: ['slow'] }, async () => {
    let given = 0
    const source = Readable.from(
      (function* () {
        for (;;) {
          given++
          yield TEXT.subarray(0, 17 * 1000)
        }
      })(),
      { highWaterMark: 1 },
    )
    const stuck = new Writable({ highWaterMark: 1, write: () => {} })
    const streams = [replay.decode(), filter({}), ndjson.encode()] as const
    const running = pipeline(source, ...streams, stuck).catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, 200))
    const after = given
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(given).toBe(after)
    expect(given).toBeLessThan(20)
    source.destroy(new Error('done'))
    await running
  })

  test('a stage that makes much out of little is asked for one result at a time', async () => {
    let made = 0
    const flood: Stage<Uint8Array, EventBatch> = {
      feed: () => {},
      next: () => {
        made++
        return batchesOf([{ kind: 'alloc' }], { format: 'test' })[0] as EventBatch
      },
      end: () => {},
      endTruncated: () => {},
    }
    const stream = decoderStream(flood)
    stream.write(Buffer.from('x'))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(made).toBeLessThan(10)
    for (let i = 0; i < 100; i++)
      if (stream.read() === null) await new Promise((resolve) => stream.once('readable', resolve))
    expect(made).toBeLessThan(120)
    stream.destroy()
  })

  test('every result arrives, for any pattern of results and reading', async () => {
    // Stages that give 0 to 5 results for an input, read by a consumer that pauses at odd moments.
    for (let seed = 1; seed <= 30; seed++) {
      let state = seed
      const random = (n: number) => (
        (state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff),
        (state >> 8) % n
      )
      let sent = 0
      let waiting = 0
      const batch = batchesOf([{ kind: 'alloc' }], { format: 'test' })[0] as EventBatch
      const stage = (): Stage<EventBatch, EventBatch> => ({
        feed: () => void (waiting = random(6)),
        next: () => (waiting-- > 0 ? (sent++, batch) : null),
        end: () => void (waiting = random(3)),
        endTruncated: () => {},
      })
      const pass: Stage<EventBatch, EventBatch> & { held: EventBatch | null } = {
        held: null,
        feed(input) {
          this.held = input
        },
        next() {
          const { held } = this
          this.held = null
          return held
        },
        end: () => {},
        endTruncated: () => {},
      }
      let got = 0
      const sink = new Writable({
        objectMode: true,
        highWaterMark: 1 + random(3),
        write(_chunk, _encoding, done) {
          got++
          if (random(2) === 0) setImmediate(done)
          else done()
        },
      })
      await pipeline(
        Readable.from(Array.from({ length: 50 }, () => batch)),
        transformStream(stage()),
        transformStream(pass),
        sink,
      )
      expect(got).toBe(sent)
    }
  })
})

describe('compose', () => {
  test('is a stream like any other', async () => {
    const composed = compose(replay.decode(), filter({ thread: 2n }), replay.encode())
    const parts: Buffer[] = []
    for await (const part of Readable.from([TEXT]).pipe(composed)) parts.push(part as Buffer)
    expect(Buffer.concat(parts).toString().split('\n')).toHaveLength(3001)
  })

  test('composes composed streams', async () => {
    const inner = compose(filter({}), map({}))
    const { events } = await eventsOf(Readable.from([TEXT]).pipe(compose(replay.decode(), inner)))
    expect(events).toHaveLength(EVENTS.length)
  })

  test('a stage that closes before it has ended is an error', async () => {
    const quitter = new PassThrough({ objectMode: true })
    const composed = compose(replay.decode(), quitter)
    const done = pipeline(
      Readable.from(endless()),
      composed,
      new Writable({ objectMode: true, write: (_c, _e, next) => setImmediate(next) }),
    )
    setTimeout(() => quitter.destroy(), 20)
    await expect(done).rejects.toThrow('stage 2 of 2 closed before it had ended')
  })

  test('destroying it destroys every stage', async () => {
    const stages = [replay.decode(), filter({}), encoderStream(replay.format.encoder())] as const
    const composed = compose(...stages)
    composed.on('error', () => {})
    composed.destroy()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(stages.map((stage) => stage.destroyed)).toEqual([true, true, true])
  })

  test('passes warnings on', async () => {
    const composed = compose(glibcMtrace.decode(), replay.encode())
    const warnings: string[] = []
    composed.on('warning', (text: string) => warnings.push(text))
    composed.end('= Start\n- 0x10\nodd\n')
    for await (const chunk of composed) void chunk
    expect(warnings).toHaveLength(1)
  })

  test('passes losses on', async () => {
    const composed = compose(filter({ thread: 0n }), hatf.encode({ attributes: false }))
    const losses: ReadonlyMap<string, number>[] = []
    composed.on('losses', (counts) => losses.push(counts))
    const lost: TraceEvent = { kind: 'alloc', thread: 0n, address: 16n, size: 8n, file: 'a.c' }
    await pipeline(Readable.from([lost]), composed, async (bytes: AsyncIterable<Uint8Array>) => {
      for await (const chunk of bytes) void chunk
    })
    expect(losses).toHaveLength(1)
    expect([...losses[0]!.keys()]).toContain('file')
  })
})

test.each([
  ['async', async () => false, /event 1: the function returned a promise, but it must not be async/],
  // The rejection, which no one handles, would end the process.
  ['async and fail', async () => Promise.reject(new Error('late')), /event 1: the function returned a promise, but/],
  ['a generator', function* () {}, /event 1: the function returned a generator, which is never run/],
  ['an async generator', async function* () {}, /event 1: the function returned a generator, which is never run/],
])('functions of filter and map must not be %s', async (_, wrong, said) => {
  const keep = wrong as unknown as () => boolean
  for (const stage of [filter(keep), filter({ kind: 'alloc', where: keep }), map(keep)]) {
    const batches: unknown[] = []
    const reading = pipeline(Readable.from(EVENTS.slice(0, 2)), stage, async (source: AsyncIterable<unknown>) => {
      for await (const batch of source) batches.push(...(batch as EventBatch))
    })
    await expect(reading).rejects.toThrow(said)
    expect(batches).toEqual([])
  }
})

test('a chunk may have any number of slices without backpressure', { tags: ['slow'], timeout: 60_000 }, async () => {
  // Lines that give no events: nothing is pushed between two slices.
  const decoder = valgrind.decode()
  const reading = decoder.toArray()
  decoder.end(Buffer.alloc(300_000_000, 'x\n'))
  expect((await reading).reduce((sum, batch) => sum + (batch as EventBatch).count, 0)).toBe(0)
})

test('a truncated trace that no one reads does not keep the process alive', { tags: ['slow'] }, () => {
  const trace = encodeEvents(mtrc.format.encoder(), EVENTS, { format: 'mtrc' })
  const script = `
    import { Readable, PassThrough } from 'node:stream'
    import { mtrc } from '${new URL('../../dist/lib/entry/index.js', import.meta.url).href}'
    const trace = Buffer.from('${Buffer.from(trace).toString('base64')}', 'base64').subarray(0, -8)
    Readable.from([trace]).pipe(mtrc.decode()).on('error', () => {}).pipe(new PassThrough({ objectMode: true }))`
  execFileSync(process.execPath, ['--input-type=module', '-e', script], { timeout: 20_000 })
})
