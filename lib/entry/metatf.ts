/** Meta-TF, trace formats defined in a language: `heapflow/metatf`. */
import { asciiDecoder, type AsciiDecodeOptions } from '../metatf/ascii/decoder.js'
import { asciiEncoder, type AsciiEncodeOptions } from '../metatf/ascii/encoder.js'
import { binaryDecoder, type BinaryDecodeOptions } from '../metatf/binary/decoder.js'
import { binaryEncoder, type BinaryEncodeOptions } from '../metatf/binary/encoder.js'
import type { Dtd } from '../metatf/model.js'
import { decoderStream, encoderStream } from '../streams/stage.js'
import type { ByteStream, EventStream } from '../streams/types.js'

/**
 * The bytes of a binary trace by a DTD to events. Its error is a TraceError, after all events before it.
 */
export function decodeBinary(dtd: Dtd, options?: BinaryDecodeOptions): EventStream<'bytes'> {
  return decoderStream(binaryDecoder(dtd, options), { name: 'decodeBinary()' })
}

/** Events to a binary trace by a DTD. */
export function encodeBinary(dtd: Dtd, options?: BinaryEncodeOptions): ByteStream<'events'> {
  return encoderStream(binaryEncoder(dtd, options), { name: 'encodeBinary()' })
}

/**
 * The lines of an ASCII trace by a DTD of Meta-TF 1.2 to events.
 * @throws DtdError when lines cannot say what the DTD asks for
 */
export function decodeAscii(dtd: Dtd, options?: AsciiDecodeOptions): EventStream<'bytes'> {
  return decoderStream(asciiDecoder(dtd, options), { name: 'decodeAscii()' })
}

/** Events to an ASCII trace by a DTD of Meta-TF 1.2. @throws DtdError as above */
export function encodeAscii(dtd: Dtd, options?: AsciiEncodeOptions): ByteStream<'events'> {
  return encoderStream(asciiEncoder(dtd, options), { name: 'encodeAscii()' })
}

export { asciiDecoder, asciiEncoder, binaryDecoder, binaryEncoder }
export type { AsciiDecodeOptions, AsciiEncodeOptions, BinaryDecodeOptions, BinaryEncodeOptions }
export {
  formatFileHeader,
  hasMagic,
  parseFileHeader,
  type ByteOrder,
  type FileHeader,
  type SectionHeader,
} from '../metatf/binary/header.js'
export type { ReadAt } from '../metatf/binary/table-section.js'
export * from '../metatf/index.js'
export { compileDtd, type CompileOptions, type Language } from '../metatf/generate/module.js'
