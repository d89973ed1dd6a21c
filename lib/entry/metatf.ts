/** Meta-TF, trace formats defined in a language: `heapflow/metatf`. */
import type { Transform } from 'node:stream'
import { asciiDecoder, type AsciiDecodeOptions } from '../metatf/ascii/decode.js'
import { asciiEncoder, type AsciiEncodeOptions } from '../metatf/ascii/encode.js'
import {
  binaryDecoder,
  binaryEncoder,
  type BinaryDecodeOptions,
  type BinaryEncodeOptions,
} from '../metatf/binary/index.js'
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
  type FileHeader,
  type ReadAt,
  type SectionHeader,
} from '../metatf/binary/index.js'
export * from '../metatf/index.js'
export { compileDtd, recordsWithoutLoop, type CompileOptions, type Language } from '../metatf/compile/index.js'

// What compiled modules are made of.
export { decimal as lineDecimal } from '../bytes/numbers.js'
export { writeDecimal, writeHex } from '../bytes/u64.js'
export { MAX_LINE } from '../metatf/ascii/layout.js'
export type { LineLoops, LineReadCursor, LineWriteCursor } from '../metatf/ascii/loops.js'
export { unsigned as lineNumber } from '../metatf/ascii/words.js'
export { MAX_BYTES } from '../metatf/binary/layout.js'
export {
  getTag,
  setTag,
  type BinaryLoops,
  type ReadCursor,
  type SectionLoops,
  type WriteCursor,
} from '../metatf/binary/loops.js'
export { BY_DEFAULT, type RecordLayout } from '../metatf/binary/record-layout.js'
export { recordSlot } from '../metatf/choose.js'
