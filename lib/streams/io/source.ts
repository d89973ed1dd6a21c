import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import type { EventBatch } from '../../event/batch.js'
import { Counter } from '../counter.js'
import { decodeBytes, type DecodeAnyOptions } from '../decode.js'
import { inflate } from '../decompress.js'
import { allAccept, Failure, failWhenDrained, passFailures, type PassesFailures } from '../failure.js'
import { QUEUED } from '../stage.js'
import { openInput } from './stdio.js'

/**
 * A Readable of the results of an async generator, whose errors come after its results.
 * @param generate is called once, with the stream, on which it may emit
 * @param release is called when the stream is destroyed; it must make whatever the generator waits for come or fail
 */
export function sourceStream(generate: (stream: Readable) => AsyncGenerator<object>, release: () => void): Readable {
  let inBand = false
  const fail = (error: Error): void => {
    if (stream.destroyed) return
    if (inBand && allAccept(stream)) stream.push(new Failure(error))
    else failWhenDrained(stream, error)
  }
  const stream: Readable & PassesFailures = Object.assign(
    new Readable({
      objectMode: true,
      highWaterMark: QUEUED,
      read() {
        results.next().then(({ done, value }) => this.push(done === true ? null : value), fail)
      },
      destroy(error, done) {
        release()
        done(error)
      },
    }),
    {
      [passFailures]: () => {
        inBand = true
      },
    },
  )
  const results = generate(stream)
  return stream
}

/** A file of events that is read. */
export interface OpenTrace extends EventEmitter {
  /** Its events. They are read when they are asked for, and not ahead of that. */
  readonly batches: AsyncGenerator<EventBatch>
  /** How many bytes were read so far. */
  bytesRead(): number
  /** Closes the file. Whatever waits for events gets them or an error. */
  close(): void
}

/** How to read a file with `openTrace`. */
export interface OpenOptions extends Omit<DecodeAnyOptions, 'path' | 'through'> {
  /** How many bytes to read at a time. Default 65536. */
  chunkBytes?: number
}

/** Opens a file, or standard input for `-`, of any format, compressed or not. Emits `warning` with a text. */
export function openTrace(path: string, { chunkBytes, ...options }: OpenOptions = {}): OpenTrace {
  const input = openInput(path, chunkBytes)
  // Whoever reads it sees the error; until then it must not count as one that nobody listens to.
  input.on('error', () => {})
  const trace = new EventEmitter()
  const inflated = inflate(input as AsyncIterable<Buffer>, options.onCut ? { onCut: options.onCut } : {}, trace)
  return Object.assign(trace, {
    batches: decodeBytes(inflated, { ...options, path }, trace, new Counter(trace)),
    bytesRead: () => (input as { bytesRead?: number }).bytesRead ?? 0,
    close: () => void input.destroy(),
  })
}
