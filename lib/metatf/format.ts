import type { EncodeOptions, Format, WritableFormat } from '../event/format.js'
import { AsciiDecoder } from './ascii/decoder.js'
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
  WritableFormat<BinaryDecodeOptions, BinaryEncodeOptions> | WritableFormat<object, AsciiEncodeOptions & EncodeOptions>

/** The format that a DTD defines. Its decoder and encoder throw a DtdError if the DTD asks for what they cannot say. */
export function formatOf(dtd: Dtd): MetaTfFormat {
  return dtd.version === '1.0' ? binaryFormat(dtd) : asciiFormat(dtd)
}

function binaryFormat(dtd: Dtd): WritableFormat<BinaryDecodeOptions, BinaryEncodeOptions> {
  return {
    name: 'metatf',
    title: `Meta-TF by ${dtd.file}`,
    extensions: [],
    binary: true,
    ...placesOf(dtd),
    decodeOptions: {},
    encodeOptions: {},
    sniff: (head) => head.length > 0 && hasMagic(head),
    decoder: (options) => new BinaryDecoder(dtd, options),
    encoder: (options) => new BinaryEncoder(dtd, options),
  }
}

function asciiFormat(dtd: Dtd): WritableFormat<object, AsciiEncodeOptions & EncodeOptions> {
  return {
    name: 'metatf-ascii',
    title: `Meta-TF in ASCII by ${dtd.file}`,
    extensions: [],
    binary: false,
    ...placesOf(dtd),
    decodeOptions: {},
    encodeOptions: {},
    sniff: (head) => Buffer.from(head.subarray(0, 2)).toString('latin1') === '##',
    decoder: () => new AsciiDecoder(dtd),
    encoder: (options) => new AsciiEncoder(dtd, options),
  }
}

function placesOf(dtd: Dtd): Pick<Format, 'carried' | 'writtenAs'> {
  const { carried, writtenAs } = mappingOf(dtd)
  return { carried, writtenAs }
}
