import type { Duplex, Transform } from 'node:stream'
import { transform as through } from 'through2'
import type { EventBatch } from '../event/batch.js'
import { asError } from '../event/error.js'
import { acceptEncodings, asBuffer } from './as-buffer.js'
import { acceptFailures, failing } from './failure.js'
import { givesEvents } from './gives-events.js'
import { batchesIn, bytesOf } from './intake.js'
import { QUEUED } from './stage.js'
import { turns } from './turns.js'
import type { ByteStream, EventStream } from './types.js'

/**
 * A Transform in object mode from an async generator over the chunks of bytes that are written to it. Errors of the
 * generator follow its results.
 * @param name the name of the stream in messages about a wrong chunk
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
  const stream = generatorStream((source, own) => {
    const batches = batchesIn(source, name, (text) => own.emit('warning', text))
    return generate(batches, own)
  })
  return givesEvents(stream, name) as Duplex as EventStream<'events'>
}

/** The chunks of a source. If the stream was closed before their end, it is an error, because some are missing. */
async function* untilClosed(source: AsyncIterable<unknown>, stream: Transform): AsyncGenerator<unknown> {
  yield* source
  if (stream.destroyed) throw new Error('the stream was closed')
}

function generatorStream(
  generate: (source: AsyncIterable<unknown>, stream: Transform) => AsyncIterable<unknown>,
): Transform {
  const stream = through({ objectMode: true, highWaterMark: QUEUED }, async function* (source: AsyncIterable<unknown>) {
    // through2 starts the generator while it creates the stream, which `generate` may use.
    await Promise.resolve()
    let error: Error
    try {
      const input = untilClosed(source, stream)
      const turn = turns()
      for await (const item of generate(input, stream)) {
        yield item instanceof Uint8Array ? asBuffer(item) : item
        // There may be much more in one chunk.
        await turn()
      }
      return
    } catch (caught) {
      error = asError(caught)
    }
    if (stream.destroyed) return
    fail(error)
    // The stream must not end as if it were complete; it is destroyed when its consumer has received the error.
    await new Promise<never>(() => {})
  }) as Transform
  const fail = failing(stream)
  // through2 replaces `_read`. Without the Transform's own, a write that waits for the reader would wait forever.
  const wake = stream._read
  const prototype = Object.getPrototypeOf(stream) as Transform
  stream._read = (size) => {
    wake.call(stream, size)
    prototype._read.call(stream, size)
  }
  // through2 drops the encoding of what is written.
  acceptEncodings(stream)
  return acceptFailures(stream)
}
