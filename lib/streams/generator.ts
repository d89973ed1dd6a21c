import type { EventEmitter } from 'node:events'
import type { Duplex, Transform } from 'node:stream'
import { transform as through } from 'through2'
import type { EventBatch } from '../event/batch.js'
import { recycle } from '../event/recycle.js'
import type { Stage } from '../event/stage.js'
import { asBuffer } from './as-buffer.js'
import { acceptFailures, allAccept, Failure, failWhenDrained, passFailures, type PassesFailures } from './failure.js'
import { batchesIn, bytesOf } from './intake.js'
import { QUEUED } from './stage.js'
import type { ByteStream, EventStream } from './types.js'

/**
 * A Transform in object mode from an async generator over the chunks of bytes that are written to it. Errors of the
 * generator follow its results.
 * @param name what messages about a wrong chunk call the stream
 */
export function byteStream<Stream extends EventStream<'bytes'> | ByteStream<'bytes'>>(
  name: string,
  generate: (source: AsyncIterable<Uint8Array>, stream: Transform) => AsyncIterable<unknown>,
): Stream {
  return generatorStream((source, stream) => generate(bytesOf(source, name), stream)) as Duplex as Stream
}

/** The same over batches of events; plain events that are written to it are collected into batches. */
export function eventStream(
  name: string,
  generate: (source: AsyncIterable<EventBatch>, stream: Transform) => AsyncIterable<EventBatch>,
): EventStream<'events'> {
  return generatorStream((source, stream) =>
    generate(batchesIn(source, name), stream),
  ) as Duplex as EventStream<'events'>
}

function generatorStream(
  generate: (source: AsyncIterable<unknown>, stream: Transform) => AsyncIterable<unknown>,
): Transform {
  let inBand = false
  const stream = through({ objectMode: true, highWaterMark: QUEUED }, async function* (source: AsyncIterable<unknown>) {
    // through2 starts the generator while it creates the stream, which `generate` may use.
    await Promise.resolve()
    let error: Error
    try {
      for await (const item of generate(source, stream)) yield item instanceof Uint8Array ? asBuffer(item) : item
      return
    } catch (caught) {
      error = caught as Error
    }
    if (inBand && allAccept(stream)) yield new Failure(error)
    else failWhenDrained(stream, error)
    // The stream must not end as if it were complete; it is destroyed when its consumer has received the error.
    await new Promise<never>(() => {})
  }) as Transform & PassesFailures
  // through2 replaces `_read`. Without the Transform's own, a write that waits for the reader would wait forever.
  const wake = stream._read
  const prototype = Object.getPrototypeOf(stream) as Transform
  stream._read = (size) => {
    wake.call(stream, size)
    prototype._read.call(stream, size)
  }
  stream[passFailures] = () => {
    inBand = true
  }
  return acceptFailures(stream)
}

/**
 * Runs a stage over chunks or batches inside a generator; the stream emits its warnings.
 * @param recycles whether to recycle them when the stage has finished with them
 */
export async function* runStage<In extends Uint8Array | EventBatch, Out>(
  stage: Stage<In, Out>,
  source: AsyncIterable<In>,
  stream: EventEmitter,
  recycles = false,
): AsyncGenerator<Out> {
  let warned = 0
  const results = function* (): Generator<Out> {
    try {
      for (let out = stage.next(); out !== null; out = stage.next()) yield out
    } finally {
      const warnings = stage.warnings ?? []
      while (warned < warnings.length) stream.emit('warning', warnings[warned++])
    }
  }
  const inputs = source[Symbol.asyncIterator]()
  let isOpen = true
  let last: In | undefined
  try {
    for (;;) {
      let input: IteratorResult<In>
      try {
        input = await inputs.next()
      } catch (error) {
        isOpen = false
        // The events that the stage holds back came before the fault.
        stage.endTruncated()
        yield* results()
        throw error
      }
      if (input.done === true) break
      stage.feed(input.value)
      if (recycles && last !== undefined) recycle(last)
      last = input.value
      yield* results()
    }
    isOpen = false
    stage.end()
    yield* results()
  } finally {
    // The stage failed, or the consumer stopped.
    if (isOpen) await inputs.return?.()
  }
}

/** What `Peeked.whole` is. */
export type Rest = AsyncIterableIterator<Uint8Array> & { return(): Promise<IteratorResult<Uint8Array>> }

/** A source of chunks whose first bytes were read, and which can be read from the beginning. */
export interface Peeked {
  /** The first bytes: at least the requested number, unless the source is shorter. */
  readonly head: Uint8Array
  /** All of the source, `head` included. Its `return` closes the source, whether or not reading has begun. */
  readonly whole: Rest
  /** The error of the source after `head`, if it failed; `whole` fails with it too. */
  readonly failure: unknown
}

/**
 * Reads the first bytes of a source: a number of them, or until they are enough, or all of a shorter source.
 * @param isEnough called after each chunk
 */
export async function peek(
  source: AsyncIterable<Uint8Array>,
  isEnough: number | ((head: Uint8Array) => boolean),
): Promise<Peeked> {
  const chunks = source[Symbol.asyncIterator]()
  let head: Uint8Array = new Uint8Array(0)
  let failure: unknown
  try {
    while (typeof isEnough === 'number' ? head.length < isEnough : !isEnough(head)) {
      const chunk = await chunks.next()
      if (chunk.done === true) break
      head = head.length === 0 ? chunk.value : Buffer.concat([head, chunk.value])
    }
  } catch (error) {
    failure = error
  }
  let state: 'head' | 'rest' | 'closed' = 'head'
  const whole: Rest = {
    async next() {
      if (state === 'closed') return { done: true, value: undefined }
      if (state === 'head') {
        state = 'rest'
        if (head.length > 0) return { done: false, value: head }
      }
      if (failure !== undefined) throw failure
      return chunks.next()
    },
    async return() {
      if (state !== 'closed' && failure === undefined) await chunks.return?.()
      state = 'closed'
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
  return { head, whole, failure }
}
