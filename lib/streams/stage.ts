import type { Transform } from 'node:stream'
import { transform as through } from 'through2'
import type { EventBatch } from '../event/batch.js'
import { recycle } from '../event/recycle.js'
import type { BatchTransform, Decoder, Stage } from '../event/stage.js'
import { asBuffer } from './as-buffer.js'
import { acceptFailures, allAccept, Failure, failWhenDrained, passFailures, type PassesFailures } from './failure.js'

/** Bytes are fed to a stage in pieces of at most this size, so that one huge chunk does not become one huge result. */
const SLICE_BYTES = 65_536

/**
 * Chunks or batches queued before and behind a stage. With more of them in flight more survive a collection of the
 * young generation, and peak memory doubles; nothing gets faster, for stages run in one thread.
 */
export const QUEUED = 1

/** What a stream around a stage can be told. */
export interface StageStreamOptions {
  /**
   * Nobody else reads what is written to this stream: memory of batches, and of chunks from our own streams, is used
   * again as soon as the stage is done with them (see `recycle`). Default false.
   */
  recycle?: boolean
}

/** A decoder as a Transform: bytes in, `EventBatch` objects out. */
export function decoderStream(decoder: Decoder, options?: StageStreamOptions): Transform {
  return stageStream(decoder, options)
}

/**
 * An encoder, or whatever else makes bytes of batches, as a Transform: `EventBatch` objects in, bytes (as Buffers) out.
 */
export function encoderStream(encoder: Stage<EventBatch, Uint8Array>, options?: StageStreamOptions): Transform {
  return stageStream(encoder, options)
}

/** A transform of events as a Transform: `EventBatch` objects in and out. */
export function transformStream(stage: BatchTransform, options?: StageStreamOptions): Transform {
  return stageStream(stage, options)
}

/** Anything that a stage stream can be given: bytes, text, a batch, or the news that the stream before it failed. */
type Chunk = Uint8Array | string | EventBatch | Failure

/**
 * The shell around any stage. It asks the stage for its next result only while the consumer wants more, so a stage
 * that makes much out of little (stride-encoded records, a gzip bomb) holds one result at a time.
 */
function stageStream<In extends Uint8Array | EventBatch, Out>(
  stage: Stage<In, Out>,
  options: StageStreamOptions = {},
): Transform {
  const recycles = options.recycle ?? false
  /** A chunk that the stage may still look at, until it is fed the next one. */
  let last: Uint8Array | undefined
  /** What to go on with when the consumer wants more. */
  let resume: (() => void) | undefined
  let pushed = false
  let passedOn = false
  let inBand = false
  /** How many of the stage's warnings were passed on. */
  let warned = 0

  // In object mode on both sides, bytes too: so that the news of a failure can follow them in the queue.
  const stream = through(
    { objectMode: true, highWaterMark: QUEUED },
    (chunk: Chunk, encoding, done) => {
      if (chunk instanceof Failure) {
        if (guard(() => stage.cut())) drain(() => fail(chunk.error))
      } else if (typeof chunk === 'string' || chunk instanceof Uint8Array) {
        feedSlices(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk, 0, done)
      } else {
        feedBatch(chunk, done)
      }
    },
    (done) => {
      if (guard(() => stage.end())) drain(done)
    },
  ) as Transform & PassesFailures

  function feedSlices(chunk: Uint8Array, start: number, done: () => void): void {
    const end = Math.min(start + SLICE_BYTES, chunk.length)
    const slice = (start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end)) as In
    if (!guard(() => stage.feed(slice))) return
    if (recycles && start === 0) {
      if (last !== undefined) recycle(last)
      last = chunk
    }
    drain(end < chunk.length ? () => feedSlices(chunk, end, done) : done)
  }

  function feedBatch(batch: EventBatch, done: () => void): void {
    passedOn = false
    if (!guard(() => stage.feed(batch as In))) return
    drain(() => {
      if (recycles && stage.consumes === true && !passedOn) recycle(batch)
      done()
    }, batch)
  }

  /** @param batch what was fed: whether it is given out as it is, is noted in `passedOn` */
  function drain(done: () => void, batch?: EventBatch): void {
    for (;;) {
      let result: Out | null = null
      if (!guard(() => (result = stage.next()))) return
      if (result === null) break
      pushed = true
      if ((result as unknown) === batch) passedOn = true
      if (!stream.push((result as unknown) instanceof Uint8Array ? asBuffer(result) : result)) {
        resume = () => drain(done, batch)
        return
      }
    }
    warn()
    done()
  }

  /** Calls the stage; what it throws becomes the stream's failure, and false is returned. */
  function guard(call: () => void): boolean {
    try {
      call()
      return true
    } catch (error) {
      warn()
      fail(error as Error)
      return false
    }
  }

  function warn(): void {
    const warnings = stage.warnings ?? []
    while (warned < warnings.length) stream.emit('warning', warnings[warned++])
  }

  /** Nothing is read any more (the transform's callback is never called); the error comes behind what is queued. */
  function fail(error: Error): void {
    if (inBand && allAccept(stream)) stream.push(new Failure(error))
    else failWhenDrained(stream, error)
  }

  const read = stream._read
  stream._read = (size) => {
    if (resume === undefined) return read.call(stream, size)
    const go = resume
    resume = undefined
    pushed = false
    go()
    // Node asks again only after a push; where there was none, the transform's own callback may be waiting for it.
    if (!pushed) read.call(stream, size)
  }
  stream[passFailures] = () => {
    inBand = true
  }
  return acceptFailures(stream)
}
