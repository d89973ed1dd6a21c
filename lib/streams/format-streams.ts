import * as Formats from '../event/format.js'
import type { Encoder } from '../event/stage.js'
import type { FormatEntry } from '../formats/index.js'
import { namespaceOf } from './intake.js'
import { decoderStream, encoderStream } from './stage.js'
import type { ByteStream, EventStream } from './types.js'

/** A format as a pair of streams: what each subpath of the package exports. */
export interface FormatStreams<DecodeOptions extends object, FormatEncodeOptions extends object> {
  /**
   * Bytes in (not compressed: see `decompress`), `EventBatch` objects out. Faults in the bytes are `TraceError`s: the
   * error of the stream, after all events before the fault were read.
   * @throws RangeError for an unknown option or value
   */
  decode(options?: DecodeOptions): EventStream<'bytes'>
  /**
   * Events in, as `EventBatch` objects or plain, and bytes out. Fields that the format cannot represent are counted,
   * and emitted at the end as `losses`, a map from what was dropped to the number of events; with `strict` the first
   * one is an error.
   * @throws RangeError for an unknown option or value
   */
  encode(options?: FormatEncodeOptions & Formats.EncodeOptions): ByteStream<'events'>
}

/** A format with its streams, whose codec is loaded when the first of them is used. */
export interface TraceFormat<DecodeOptions extends object, FormatEncodeOptions extends object>
  extends FormatEntry, FormatStreams<DecodeOptions, FormatEncodeOptions> {}

/** The same for a format that can only be read. */
export type ReadOnlyFormat<DecodeOptions extends object> = Omit<TraceFormat<DecodeOptions, object>, 'encode'>

/** Makes the pair of streams of a format. */
export function formatStreams<D extends object, E extends object>(
  format: Formats.WritableFormat<D, E>,
): FormatStreams<D, E> {
  Formats.needFormat(format, 'formatStreams')
  const name = `${namespaceOf(format.name)}.encode()`
  return {
    decode: decoderOf(format),
    encode: (options) => encoderStream(encoderOf(format, options), { name }),
  }
}

/** @throws Error for a format that can only be read */
function encoderOf(format: Formats.Format<object>, options: object | undefined): Encoder {
  if (!Formats.isWritable(format)) throw new Error(`${format.name} cannot be written`)
  return format.encoder(options)
}

/** The functions that make the streams of a format's decoder. */
export function decoderOf<D extends object>(format: Formats.Format<D>): FormatStreams<D, object>['decode'] {
  Formats.needFormat(format, 'decoderOf')
  const name = `${namespaceOf(format.name)}.decode()`
  return (options) => decoderStream(format.decoder(options), { name })
}

/**
 * A format as a pair of streams that is loaded when a chunk is written to one of its streams; until then options are
 * only checked, and copied, because the caller may change them.
 */
export function lazyStreams<D extends object, E extends object>(entry: FormatEntry): TraceFormat<D, E> {
  const name = `${namespaceOf(entry.name)}.encode()`
  return {
    ...lazyReader<D>(entry),
    encode(options) {
      Formats.checkEncodeOptions(entry, options, name)
      const own = { ...options }
      return encoderStream(async () => encoderOf(await entry.load(), own), { name })
    },
  }
}

/** The same for a format that can only be read. */
export function lazyReader<D extends object>(entry: FormatEntry): ReadOnlyFormat<D> {
  const name = `${namespaceOf(entry.name)}.decode()`
  return {
    ...entry,
    decode(options) {
      Formats.checkDecodeOptions(entry, options, name)
      const own = { ...options }
      return decoderStream(async () => (await entry.load()).decoder(own), { name })
    },
  }
}
