import type { WritableFormat } from '../event/format.js'
import { LAST_LINE } from '../text/last-line.js'
import { AsciiDecoder, type AsciiDecodeOptions } from './ascii/decoder.js'
import { AsciiEncoder, type AsciiEncodeOptions } from './ascii/encoder.js'
import { hasMagic } from './binary/header.js'
import { BinaryDecoder, type BinaryDecodeOptions } from './binary/decoder.js'
import { BinaryEncoder, type BinaryEncodeOptions } from './binary/encoder.js'
import { mappingOf } from './mapping.js'
import type { Dtd } from './model.js'

/**
 * The traces of a DTD as a format like the others: in binary by one of Meta-TF 1.0, in ASCII by one of 1.2. It is not
 * in the list of formats, because each DTD is a format.
 */
export type MetaTfFormat =
  WritableFormat<BinaryDecodeOptions, BinaryEncodeOptions> | WritableFormat<AsciiDecodeOptions, AsciiEncodeOptions>

/** The format that a DTD defines. Its decoder and encoder throw a DtdError if the DTD asks for what they cannot say. */
export function formatOf(dtd: Dtd): MetaTfFormat {
  const { carried, writtenAs } = mappingOf(dtd)
  const common = { extensions: [], carried, writtenAs, encodeOptions: {} }
  if (dtd.version === '1.0') {
    return {
      ...common,
      decodeOptions: {},
      name: 'metatf',
      title: `Meta-TF by ${dtd.file}`,
      binary: true,
      sniff: (head) => head.length > 0 && hasMagic(head),
      decoder: (options?: BinaryDecodeOptions) => new BinaryDecoder(dtd, options),
      encoder: (options?: BinaryEncodeOptions) => new BinaryEncoder(dtd, options),
    }
  }
  return {
    ...common,
    decodeOptions: LAST_LINE,
    name: 'metatf-ascii',
    title: `Meta-TF in ASCII by ${dtd.file}`,
    binary: false,
    sniff: (head) => Buffer.from(head.subarray(0, 2)).toString('latin1') === '##',
    decoder: (options?: AsciiDecodeOptions) => new AsciiDecoder(dtd, options),
    encoder: (options?: AsciiEncodeOptions) => new AsciiEncoder(dtd, options),
  }
}
