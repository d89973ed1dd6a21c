import {
  deflateRaw,
  zlibInflate,
  zlibInflateInit2,
  zlibInflateSetDictionary,
  Z_FINISH,
  Z_STREAM_END,
  ZStream,
} from 'pako'

// What the bundler puts in place of node:zlib: as much of it as the library needs to read and write traces.

/** Raw deflate with the largest window, as zlib counts it. */
export const RAW_WINDOW_BITS = -15

const REVERSED_POLYNOMIAL = 0xedb8_8320

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ REVERSED_POLYNOMIAL
  return crc
})

/** The CRC-32 of RFC 1952, section 8. @param crc that of the bytes before these */
export function crc32(bytes: Uint8Array, crc = 0): number {
  crc = ~crc
  for (let i = 0; i < bytes.length; i++) crc = TABLE[(crc ^ bytes[i]) & 0xff] ^ (crc >>> 8)
  return ~crc >>> 0
}

/** @throws RangeError when more than `maxOutputLength` bytes come out, Error when the data are corrupt */
export function inflateRawSync(
  bytes: Uint8Array,
  { maxOutputLength, dictionary }: { maxOutputLength: number; dictionary?: Uint8Array },
): Uint8Array {
  const stream = new ZStream()
  zlibInflateInit2(stream, RAW_WINDOW_BITS)
  if (dictionary !== undefined) zlibInflateSetDictionary(stream, dictionary)
  stream.input = bytes
  stream.avail_in = bytes.length
  stream.output = new Uint8Array(maxOutputLength + 1)
  stream.avail_out = stream.output.length
  const status = zlibInflate(stream, Z_FINISH)
  if (stream.next_out > maxOutputLength) throw new RangeError(`more than ${maxOutputLength} bytes come out`)
  if (status !== Z_STREAM_END) throw new Error(stream.msg === '' ? 'the data are truncated' : stream.msg)
  return stream.output.subarray(0, stream.next_out)
}

/** Raw deflate. The bytes differ from those of node:zlib, and inflate to the same. */
export function deflateRawSync(
  bytes: Uint8Array,
  { level, dictionary }: { level: number; dictionary?: Uint8Array },
): Uint8Array {
  return deflateRaw(bytes, { level, ...(dictionary && { dictionary }) })
}

/** Without `createZstdDecompress`, zstd is left to the kernel. */
export const constants = {}
