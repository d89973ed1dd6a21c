import type { EventEmitter } from 'node:events'
import type { Transform } from 'node:stream'
import { transform as through } from 'through2'
import type { EventBatch } from '../event/batch.js'
import { recycle } from '../event/recycle.js'
import type { Stage } from '../event/stage.js'
import { acceptFailures, allAccept, Failure, failWhenDrained, passFailures, type PassesFailures } from './failure.js'
import { asBuffer } from './as-buffer.js'
import { QUEUED } from './stage.js'

/**
 * A Transform in object mode from an async generator over chunks of bytes, or whatever else is written to it; the
 * generator's errors come after its results.
 */
export function generatorStream<In extends object = Uint8Array>(
  generate: (source: AsyncIterable<In>, stream: Transform) => AsyncIterable<unknown>,
): Transform {
  let inBand = false
  const stream = through(
    { objectMode: true, highWaterMark: QUEUED },
    async function* (source: AsyncIterable<In | string | Failure>) {
      // through2 starts the generator while it makes the stream, which `generate` may want to use.
      await Promise.resolve()
      let error: Error
      try {
        for await (const item of generate(itemsOf(source), stream))
          yield item instanceof Uint8Array ? asBuffer(item) : item
        return
      } catch (caught) {
        error = caught as Error
      }
      if (inBand && allAccept(stream)) yield new Failure(error)
      else failWhenDrained(stream, error)
      // The stream must not end as if it were whole; it is destroyed once its consumer has seen the error.
      await new Promise<never>(() => {})
    },
  ) as Transform & PassesFailures
  // through2 replaces `_read` by its own; without the Transform's, a write that waits for the reader waits for ever.
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

async function* itemsOf<In extends object>(source: AsyncIterable<In | string | Failure>): AsyncGenerator<In> {
  for await (const chunk of source) {
    if (chunk instanceof Failure) throw chunk.error
    // Only streams of bytes are written text to.
    yield typeof chunk === 'string' ? (Buffer.from(chunk) as object as In) : chunk
  }
}

/**
 * Runs a stage over chunks or batches inside a generator; its warnings become the stream's.
 * @param recycles these are recycled when the stage is done with them
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
  let last: In | undefined
  for (;;) {
    let input: IteratorResult<In>
    try {
      input = await inputs.next()
    } catch (error) {
      // What the stage holds back came before the fault.
      stage.cut()
      yield* results()
      throw error
    }
    if (input.done === true) break
    stage.feed(input.value)
    if (recycles && last !== undefined) recycle(last)
    last = input.value
    yield* results()
  }
  stage.end()
  yield* results()
}

/** A source of chunks that has been read up to some length, to be read again from the beginning. */
export interface Peeked {
  /** The first bytes: at least as many as were asked for, unless the source is shorter. */
  readonly head: Uint8Array
  /** All of the source, `head` included. */
  readonly whole: AsyncIterable<Uint8Array>
  /** What the source failed with behind `head`, if it did; `whole` fails with it too. */
  readonly failure: unknown
}

/**
 * Reads the first bytes of a source: so many, or until they are enough, or all of a shorter one.
 * @param isEnough is asked after each chunk
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
  const whole = (async function* () {
    if (head.length > 0) yield head
    if (failure !== undefined) throw failure
    yield* { [Symbol.asyncIterator]: () => chunks }
  })()
  return { head, whole, failure }
}
