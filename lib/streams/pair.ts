import type { Transform } from 'node:stream'
import type { EncodeOptions, Format, WritableFormat } from '../event/format.js'
import { namespaceOf } from './intake.js'
import { decoderStream, encoderStream } from './stage.js'

/** A format as a pair of Transforms: what each subpath of the package exports. */
export interface StreamPair<DecodeOptions extends object, FormatEncodeOptions extends object> {
  /**
   * Bytes in (not compressed: see `decompress`), `EventBatch` objects out. What is wrong with the bytes is a
   * `TraceError`, the stream's error, after all events before it were read.
   */
  decode(options?: DecodeOptions): Transform
  /**
   * `EventBatch` objects in, bytes out. What the format has no place for is counted, and emitted at the end as a
   * `losses` event with a `ReadonlyMap` from what was left out to the number of events; with `strict` it is an error.
   */
  encode(options?: FormatEncodeOptions & EncodeOptions): Transform
}

/** Makes the decoding stream of a format that can only be read. */
export function decoderOf<D extends object>(format: Format<D>): StreamPair<D, object>['decode'] {
  return (options) => decoderStream(format.decoder(options))
}

/** Makes the pair of streams of a format. */
export function streamPair<D extends object, E extends object>(format: WritableFormat<D, E>): StreamPair<D, E> {
  const name = namespaceOf(format.name)
  return {
    decode: (options) => decoderStream(format.decoder(options), { name: `${name}.decode()` }),
    encode: (options) => encoderStream(format.encoder(options), { name: `${name}.encode()` }),
  }
}
