/** The runtime of the modules that `metatf-compile` makes: `heapflow/metatf/runtime`. Not for other uses. */
import type { Decoder, Encoder } from '../event/stage.js'
import { BinaryDecoder, type BinaryDecodeOptions } from '../metatf/binary/decoder.js'
import { BinaryEncoder, type BinaryEncodeOptions } from '../metatf/binary/encoder.js'
import { Codec, type PrintedLoops } from '../metatf/generate/loops.js'
import { AsciiDecoder, type AsciiDecodeOptions } from '../metatf/ascii/decoder.js'
import { AsciiEncoder, type AsciiEncodeOptions } from '../metatf/ascii/encoder.js'
import type { Dtd } from '../metatf/model.js'
import { decoderStream, encoderStream } from '../streams/stage.js'
import type { ByteStream, EventStream } from '../streams/types.js'

export { parseDtd } from '../metatf/index.js'
export { RUNTIME } from '../metatf/generate/runtime.js'
// Declarations of modules that export what is made here name these types.
export type { AsciiDecodeOptions, AsciiEncodeOptions, BinaryDecodeOptions, BinaryEncodeOptions }
export type { Decoder, Dtd, Encoder }

/** A reader and a writer, as stages and as streams. */
export interface CompiledPair<DecodeOptions, EncodeOptions> {
  decoder(options?: DecodeOptions): Decoder
  encoder(options?: EncodeOptions): Encoder
  decode(options?: DecodeOptions): EventStream<'bytes'>
  encode(options?: EncodeOptions): ByteStream<'events'>
}

/** The pair of a DTD of 1.0. @throws Error if another version of heapflow made the loops */
export function binaryPair(dtd: Dtd, printed: PrintedLoops): CompiledPair<BinaryDecodeOptions, BinaryEncodeOptions> {
  const codec = Codec.of(dtd, printed)
  return pairOf(
    (options) => new BinaryDecoder(dtd, options, codec),
    (options) => new BinaryEncoder(dtd, options, codec),
  )
}

/** The pair of a DTD of 1.2. @throws Error if another version of heapflow made the loops */
export function asciiPair(dtd: Dtd, printed: PrintedLoops): CompiledPair<AsciiDecodeOptions, AsciiEncodeOptions> {
  const codec = Codec.of(dtd, printed)
  return pairOf(
    (options) => new AsciiDecoder(dtd, options, codec),
    (options) => new AsciiEncoder(dtd, options, codec),
  )
}

function pairOf<DecodeOptions, EncodeOptions>(
  decoder: (options?: DecodeOptions) => Decoder,
  encoder: (options?: EncodeOptions) => Encoder,
): CompiledPair<DecodeOptions, EncodeOptions> {
  return {
    decoder,
    encoder,
    decode: (options) => decoderStream(decoder(options)),
    encode: (options) => encoderStream(encoder(options)),
  }
}
