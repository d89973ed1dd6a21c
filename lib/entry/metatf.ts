/** Meta-TF, trace formats defined in a language: `heapflow/metatf`. */
import type { Transform } from 'node:stream'
import { asciiDecoder, type AsciiDecodeOptions } from '../metatf/ascii/decoder.js'
import { asciiEncoder, type AsciiEncodeOptions } from '../metatf/ascii/encoder.js'
import { binaryDecoder, type BinaryDecodeOptions } from '../metatf/binary/decoder.js'
import { binaryEncoder, type BinaryEncodeOptions } from '../metatf/binary/encoder.js'
import type { Dtd } from '../metatf/model.js'
import { decoderStream, encoderStream } from '../streams/stage.js'

/**
 * The bytes of a binary trace by a DTD to events: a Transform. Its error is a TraceError, after all events before it.
 */
export function decodeBinary(dtd: Dtd, options?: BinaryDecodeOptions): Transform {
  return decoderStream(binaryDecoder(dtd, options))
}

/** Events to a binary trace by a DTD: a Transform. */
export function encodeBinary(dtd: Dtd, options?: BinaryEncodeOptions): Transform {
  return encoderStream(binaryEncoder(dtd, options))
}

/**
 * The lines of an ASCII trace by a DTD of Meta-TF 1.2 to events: a Transform.
 * @throws DtdError when lines cannot say what the DTD asks for
 */
export function decodeAscii(dtd: Dtd, options?: AsciiDecodeOptions): Transform {
  return decoderStream(asciiDecoder(dtd, options))
}

/** Events to an ASCII trace by a DTD of Meta-TF 1.2: a Transform. @throws DtdError likewise */
export function encodeAscii(dtd: Dtd, options?: AsciiEncodeOptions): Transform {
  return encoderStream(asciiEncoder(dtd, options))
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
export type { ReadAt } from '../metatf/binary/tables.js'
export * from '../metatf/index.js'
export { compileDtd, type CompileOptions, type Language } from '../metatf/generate/module.js'
