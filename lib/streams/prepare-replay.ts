import { Preparation, type PrepareOptions } from '../transforms/drive/preparation.js'
import type { PreparedReplay } from '../transforms/drive/result.js'
import { encoderStream } from './stage.js'
import type { ByteStream } from './types.js'

/** A stream that makes a file of operations. */
export interface PrepareReplayStream extends ByteStream<'events'> {
  /** The figures so far, which are complete at the end. */
  result(): PreparedReplay
}

/**
 * Prepares a trace for hf-replay: makes a file of operations from events, in which blocks have slots in place of
 * addresses, and each thread has its own list. docs/operations.md describes the file. Memory grows with the number of
 * live blocks and of threads.
 *
 * @example
 * const prepared = prepareReplay({ order: 'lifetimes' })
 * await pipeline(createReadStream('app.mtrc'), mtrc.decode(), prepared, createWriteStream('app.ops'))
 * console.log(prepared.result().calls, prepared.result().peak.bytes)
 *
 * @throws RangeError for options that are unknown or out of range. A trace that does not say which blocks its events
 *   are about is an error of the stream.
 */
export function prepareReplay(options: PrepareOptions = {}): PrepareReplayStream {
  const stage = new Preparation(options)
  const stream = encoderStream(stage, { name: 'prepareReplay()' })
  return Object.assign(stream, { result: () => stage.result() }) as object as PrepareReplayStream
}
