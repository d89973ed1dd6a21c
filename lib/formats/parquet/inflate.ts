import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { unzstdWhole } from '../../compression/zstd-whole.js'
import { unlz4Block } from '../arrow/lz4.js'
import { ParquetFault, ParquetLimit } from './fault.js'
import { Codec } from './layout.js'
import { unsnappy } from './unsnappy.js'

/** No byte of these codecs stands for more than this number of bytes. */
const MAX_RATIO = 256
/** A block of Hadoop's LZ4 begins with the lengths of its content and of its data. */
const HADOOP_HEAD = 8

/**
 * Inflates the data of a page.
 * @param length of the inflated data
 * @throws ParquetFault when they have another length, or are damaged; ParquetLimit for too large a window
 */
export function inflate(bytes: Uint8Array, codec: number, length: number): Uint8Array {
  let out: Uint8Array
  try {
    out = inflateAny(bytes, codec, length)
  } catch (error) {
    if (error instanceof ParquetFault) throw error
    if (codec === Codec.zstd && error instanceof RangeError) throw new ParquetLimit(error.message, { cause: error })
    throw new ParquetFault('the compressed data of a page are corrupt', { cause: error })
  }
  if (out.length !== length) throw new ParquetFault('a page does not have the length that it says')
  return out
}

function inflateAny(bytes: Uint8Array, codec: number, length: number): Uint8Array {
  switch (codec) {
    case Codec.none:
      return bytes
    case Codec.gzip:
      return length === 0 ? new Uint8Array(0) : gunzipSync(bytes, { maxOutputLength: length })
    case Codec.brotli:
      return length === 0 ? new Uint8Array(0) : brotliDecompressSync(bytes, { maxOutputLength: length })
    case Codec.zstd:
      return unzstdWhole(bytes, length)
  }
  // These allocate what is to come of the bytes.
  if (length > MAX_RATIO * bytes.length) throw new ParquetFault('the compressed data of a page are corrupt')
  switch (codec) {
    case Codec.snappy:
      return unsnappy(bytes, length)
    case Codec.lz4Raw:
      return lz4(bytes, length)
    case Codec.lz4:
      return hadoopLz4(bytes, length)
    default:
      throw new ParquetFault(`a column is compressed with the unknown codec ${codec}`)
  }
}

function lz4(bytes: Uint8Array, length: number): Uint8Array {
  const out = new Uint8Array(length)
  return out.subarray(0, unlz4Block(bytes, out, 0))
}

/** Inflates blocks that follow their lengths. Some writers use the same codec's name for one block without lengths. */
function hadoopLz4(bytes: Uint8Array, length: number): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const out = new Uint8Array(length)
  let end = 0
  for (let at = 0; at < bytes.length;) {
    if (at + HADOOP_HEAD > bytes.length) return lz4(bytes, length)
    const content = view.getUint32(at)
    const size = view.getUint32(at + 4)
    at += HADOOP_HEAD
    if (end + content > length || at + size > bytes.length) return lz4(bytes, length)
    if (unlz4Block(bytes.subarray(at, at + size), out, end) !== end + content) return lz4(bytes, length)
    at += size
    end += content
  }
  return out.subarray(0, end)
}
