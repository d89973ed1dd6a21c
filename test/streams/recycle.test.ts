import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { chunkOf, newChunk, recycleChunk } from '../../lib/bytes/chunks.js'
import { EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { fieldSet, FieldBit } from '../../lib/event/fields.js'
import { NO_HEADER } from '../../lib/event/header.js'
import type { Decoder, Encoder, Stage } from '../../lib/event/stage.js'
import * as hatf from '../../lib/entry/hatf.js'
import * as mtrc from '../../lib/entry/mtrc.js'
import * as ndjson from '../../lib/entry/ndjson.js'
import * as replay from '../../lib/entry/replay.js'
import { decodeAny } from '../../lib/streams/decode.js'
import { decompress } from '../../lib/streams/decompress.js'
import { DescriptorSink } from '../../lib/streams/io/descriptor-sink.js'
import { openTrace } from '../../lib/streams/io/open-trace.js'
import { SplitFiles } from '../../lib/streams/split-files.js'
import { decoderStream, encoderStream, transformStream } from '../../lib/streams/stage.js'
import { scratch } from '../support/commands.js'
import { decodeAll, encodeEvents } from '../support/drive.js'

/** All chunks of a test have so many bytes, and all batches so many events and these columns. */
const CHUNK = 8192
const COUNT = 512
const COLUMNS = fieldSet('address', 'size')
const GARBAGE = 0xa5

/**
 * Overwrites all memory that was recycled: whatever still looks at some of it finds garbage there. All of the pool is
 * taken before it is given back.
 */
function spoil(): void {
  const chunks = Array.from({ length: 8 }, () => newChunk(CHUNK).fill(GARBAGE))
  chunks.forEach(recycleChunk)
  const batches = Array.from({ length: 8 }, () => EventBatch.unfilled(COUNT, COLUMNS, NO_HEADER))
  for (const { mask, kind, address, size } of batches) {
    for (const column of [mask, kind, address.words, size.words]) column.fill(GARBAGE)
  }
  for (const batch of batches) batch.recycle()
}

/** Chunks of numbers: chunk c has the numbers from c * CHUNK / 4. */
function* numbers(chunks: number): Generator<Uint8Array> {
  for (let c = 0; c < chunks; c++) {
    const words = Uint32Array.from({ length: CHUNK / 4 }, (_, i) => (c * CHUNK) / 4 + i)
    yield chunkOf(new Uint8Array(words.buffer))
  }
}

/** Gives a batch for each quarter of a chunk, read from it as late as a stage may. */
class LateDecoder implements Decoder {
  private chunk: Uint8Array | undefined
  private quarter = 4

  feed(chunk: Uint8Array): void {
    this.chunk = chunk
    this.quarter = 0
  }

  next(): EventBatch | null {
    spoil()
    if (this.quarter === 4) return null
    const { buffer, byteOffset } = this.chunk as Uint8Array
    const words = new Uint32Array(buffer, byteOffset + (this.quarter++ * CHUNK) / 4, CHUNK / 16)
    return batchOf(words)
  }

  end(): void {}

  endTruncated(): void {}
}

/** A batch whose events have these sizes, in memory that can be recycled. */
function batchOf(sizes: Iterable<number>): EventBatch {
  const batch = EventBatch.unfilled(COUNT, COLUMNS, NO_HEADER)
  for (const size of sizes) {
    batch.mask[batch.count] = FieldBit.size
    batch.kind[batch.count] = 0
    batch.size.values[batch.count++] = BigInt(size)
  }
  return batch
}

function* batches(n: number): Generator<EventBatch> {
  for (let b = 0; b < n; b++) yield batchOf(Array.from({ length: COUNT }, (_, i) => b * COUNT + i))
}

/** Gives the sizes of a batch as text, a quarter at a time, each read as late as a stage may. */
class LateEncoder implements Stage<EventBatch, Uint8Array> {
  readonly consumes = true
  private batch: EventBatch | undefined
  private quarter = 4

  feed(batch: EventBatch): void {
    this.batch = batch
    this.quarter = 0
  }

  next(): Uint8Array | null {
    spoil()
    if (this.quarter === 4) return null
    const from = (this.quarter++ * COUNT) / 4
    const sizes = Array.from((this.batch as EventBatch).size.values.subarray(from, from + COUNT / 4))
    return Buffer.from(`${sizes.join('\n')}\n`)
  }

  end(): void {}

  endTruncated(): void {}
}

const upTo = (n: number) => Array.from({ length: n }, (_, i) => i)
const sizesOf = (got: readonly EventBatch[]) => got.flatMap((batch) => Array.from(batch, ({ size }) => Number(size)))
const lines = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString().trimEnd().split('\n').map(Number)

describe('memory of chunks is used again only when the decoder is done with them', () => {
  const CHUNKS = 5
  const expected = upTo((CHUNKS * CHUNK) / 4)

  test('by decoderStream', async () => {
    const stream = Readable.from(numbers(CHUNKS)).pipe(decoderStream(new LateDecoder(), { recycle: true }))
    const got: number[] = []
    for await (const batch of stream) got.push(...sizesOf([batch]))
    expect(got).toEqual(expected)
  })

  test('by decodeAny', async () => {
    const format = { ...mtrc.format, decoder: () => new LateDecoder() }
    const got: number[] = []
    for await (const batch of Readable.from(numbers(CHUNKS)).pipe(decodeAny({ format, recycle: true })))
      got.push(...sizesOf([batch]))
    expect(got).toEqual(expected)
  })

  test('by decodeAny with what the events go through', async () => {
    const format = { ...mtrc.format, decoder: () => new LateDecoder() }
    const stream = decodeAny({ format, recycle: true, through: new LateEncoder() })
    const chunks: Buffer[] = []
    for await (const chunk of Readable.from(numbers(CHUNKS)).pipe(stream)) chunks.push(Buffer.from(chunk as Buffer))
    expect(lines(chunks)).toEqual(expected)
  })

  test('by openTrace', async () => {
    const path = join(scratch(), 'numbers')
    await pipeline(Readable.from(numbers(CHUNKS)), new DescriptorSink(path))
    const format = { ...mtrc.format, decoder: () => new LateDecoder() }
    const got: number[] = []
    for await (const batch of openTrace(path, { format, recycle: true, chunkBytes: CHUNK })) {
      got.push(...sizesOf([batch]))
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(got).toEqual(expected)
  })
})

describe('memory of batches is used again only when the stage is done with them', () => {
  test('by encoderStream', async () => {
    const stream = Readable.from(batches(5)).pipe(encoderStream(new LateEncoder(), { recycle: true }))
    expect(lines((await stream.toArray()) as Buffer[])).toEqual(upTo(5 * COUNT))
  })

  test('by transformStream, which leaves a batch alone that it passes on', async () => {
    let held: EventBatch | null = null
    const passOn: Stage<EventBatch, EventBatch> = {
      consumes: true,
      feed: (batch) => void (held = batch),
      next() {
        spoil()
        const batch = held
        held = null
        return batch
      },
      end: () => {},
      endTruncated: () => {},
    }
    const got: EventBatch[] = []
    await pipeline(
      Readable.from(batches(5)),
      transformStream(passOn, { recycle: true }),
      new Writable({
        objectMode: true,
        write(batch: EventBatch, _encoding, done) {
          got.push(batch)
          setImmediate(done)
        },
      }),
    )
    spoil()
    expect(sizesOf(got)).toEqual(upTo(5 * COUNT))
  })

  test('by transformStream, which leaves batches alone that a stage may hold back', async () => {
    const held: EventBatch[] = []
    let ended = false
    const holdBack: Stage<EventBatch, EventBatch> = {
      feed: (batch) => void held.push(batch),
      next() {
        spoil()
        return ended ? (held.shift() ?? null) : null
      },
      end: () => void (ended = true),
      endTruncated: () => {},
    }
    const stream = Readable.from(batches(5)).pipe(transformStream(holdBack, { recycle: true }))
    expect(sizesOf((await stream.toArray()) as EventBatch[])).toEqual(upTo(5 * COUNT))
  })

  /** An encoder that encodes nothing before the end. */
  const holding = (encoder: Encoder): Encoder => {
    const held: EventBatch[] = []
    let state: 'open' | 'ending' | 'ended' = 'open'
    return {
      losses: encoder.losses,
      feed: (batch) => void held.push(batch),
      next() {
        spoil()
        while (state !== 'open') {
          const chunk = encoder.next()
          if (chunk !== null || state === 'ended') return chunk
          const batch = held.shift()
          if (batch !== undefined) encoder.feed(batch)
          else {
            encoder.end()
            state = 'ended'
          }
        }
        return null
      },
      end: () => void (state = 'ending'),
      endTruncated: () => {},
    }
  }

  test.each([
    ['consume batches', false],
    ['hold batches back', true],
  ])('by SplitFiles, whose encoders %s, also where parts of a batch are the batch', async (_, holds) => {
    const folder = scratch()
    const late = (encoder: Encoder): Encoder => {
      const next = encoder.next.bind(encoder)
      return Object.assign(encoder, { next: () => (spoil(), next()) })
    }
    // Every other batch has one key only.
    const input = Array.from(batches(6), (batch, b) => {
      for (let i = 0; i < COUNT; i++) batch.kind[i] = b % 2 === 0 ? 0 : i % 2
      return batch
    })
    const expected = input.flatMap((batch) => [...batch])
    await pipeline(
      Readable.from(input),
      new SplitFiles({
        by: 'kind',
        path: (key) => join(folder, key),
        encoder: () => (holds ? holding : late)(ndjson.format.encoder()),
        recycle: true,
      }),
    )
    for (const kind of ['alloc', 'free']) {
      const { events, error } = decodeAll(ndjson.format.decoder(), readFileSync(join(folder, kind)))
      expect(error).toBeUndefined()
      expect(events).toEqual(expected.filter((event) => event.kind === kind))
    }
  })
})

describe('memory is used again', () => {
  const isSpoiled = (words: Uint32Array) => words.every((word) => word === GARBAGE)

  test.each([
    ['by encoderStream', encoderStream],
    ['by transformStream', transformStream],
  ])('%s after the batch is consumed, only if asked for', async (_, make) => {
    for (const recycle of [true, false]) {
      const input = Array.from(batches(3))
      // What a batch loses with its storage is found in what takes its place.
      const storage = input.map(({ size }) => size.words)
      const consumer = { consumes: true, feed: () => {}, next: () => null, end: () => {}, endTruncated: () => {} }
      await Readable.from(input)
        .pipe((make as typeof transformStream)(consumer, { recycle }))
        .toArray()
      spoil()
      expect(storage.map(isSpoiled)).toEqual(input.map(() => recycle))
    }
  })

  test('by decoderStream after the chunk is decoded, only if asked for', async () => {
    for (const recycle of [true, false]) {
      const input = Array.from(numbers(3))
      const consumer = { feed: () => {}, next: () => null, end: () => {}, endTruncated: () => {} }
      await Readable.from(input).pipe(decoderStream(consumer, { recycle })).toArray()
      spoil()
      // The last one may be looked at until the end.
      expect(input.map((chunk) => chunk.every((byte) => byte === GARBAGE))).toEqual([recycle, recycle, false])
    }
  })
})

test('a DescriptorSink gives up a chunk when it is written, and not before', async () => {
  const path = join(scratch(), 'numbers')
  const sink = new DescriptorSink(path, { recycle: true })
  for (const chunk of numbers(20)) {
    const written = new Promise((resolve) => sink.write(chunk, resolve))
    // The file is written by another thread meanwhile.
    spoil()
    await written
  }
  await new Promise((resolve) => sink.end(resolve))
  const bytes = readFileSync(path)
  expect(Array.from(new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4))).toEqual(upTo((20 * CHUNK) / 4))
})

describe('when the input is truncated, what a stage holds back is given out', () => {
  const EVENTS = Array.from({ length: 3000 }, (_, i): TraceEvent => ({
    kind: 'alloc',
    thread: 1n,
    address: BigInt(i + 1) * 16n,
    size: BigInt(i % 100),
  }))
  const TEXT = encodeEvents(replay.format.encoder(), EVENTS, { format: 'replay' })
  const eventsIn = (chunks: readonly Buffer[]) => decodeAll(hatf.format.decoder(), Buffer.concat(chunks)).events

  test('by decodeAny, whose encoder looks ahead', async () => {
    const archive = gzipSync(TEXT)
    const source = Readable.from([archive.subarray(0, archive.length - 12)])
    const chunks: Buffer[] = []
    const encoder = hatf.format.encoder()
    const stream = source.pipe(decompress()).pipe(decodeAny({ format: replay.format, through: encoder }))
    await expect(
      (async () => {
        for await (const chunk of stream) chunks.push(chunk as Buffer)
      })(),
    ).rejects.toMatchObject({ code: 'ERR_TRACE_TRUNCATED', format: 'gzip' })
    // Less than what the encoder holds back is missing.
    expect(eventsIn(chunks).length).toBeGreaterThan(EVENTS.length - 200)
    expect(eventsIn(chunks)).toEqual(
      EVENTS.slice(0, eventsIn(chunks).length).map(({ kind, thread, address, size }) => ({
        kind,
        thread,
        address,
        size,
      })),
    )
  })

  test('by a stream around the encoder', async () => {
    const broken = Buffer.concat([TEXT, Buffer.from('this is no event\n')])
    const sink = new PassThrough()
    const chunks: Buffer[] = []
    sink.on('data', (chunk: Buffer) => chunks.push(chunk))
    await expect(pipeline(Readable.from([broken]), replay.decode(), hatf.encode(), sink)).rejects.toMatchObject({
      code: 'ERR_TRACE_MALFORMED',
    })
    expect(eventsIn(chunks)).toHaveLength(EVENTS.length)
  })
})
