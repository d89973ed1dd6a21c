import * as zlib from 'node:zlib'
import type { CodecName } from './layout.js'
import { snappy } from './snappy.js'

/** Functions of node:zlib since Node 22.15, which the types of older versions lack. */
interface ZlibWithZstd {
  readonly zstdCompressSync?: (bytes: Uint8Array) => Uint8Array
}

/** The function that compresses pages. @throws RangeError when this machine lacks the codec */
export function compressorOf(codec: CodecName): (bytes: Uint8Array) => Uint8Array {
  if (codec === 'snappy') return snappy
  if (codec === 'none') return (bytes) => bytes
  const { zstdCompressSync } = zlib as unknown as ZlibWithZstd
  if (zstdCompressSync === undefined)
    throw new RangeError(`zstd needs Node 22.15 or newer, not ${process.version}: write snappy`)
  return (bytes) => zstdCompressSync(bytes)
}
