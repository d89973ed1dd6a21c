import { zlibInflate, zlibInflateInit2, Z_BUF_ERROR, Z_NO_FLUSH, Z_OK, Z_STREAM_END, ZStream } from 'pako'
import { checkTrailer, type MemberInflater } from '../lib/compression/gunzip.js'
import { skipHeader } from '../lib/compression/gzip-header.js'
import { crc32, RAW_WINDOW_BITS } from './node/zlib.js'

const OUTPUT_BYTES = 65_536

/**
 * Inflates a member of gzip without Node. (A browser's DecompressionStream reads only one member, and does not say
 * where it ends.)
 */
export const browserMember: MemberInflater = async function* (input) {
  const start = input.offset
  await skipHeader(input)
  const stream = new ZStream()
  zlibInflateInit2(stream, RAW_WINDOW_BITS)
  let crc = 0
  let length = 0
  for (let status: number = Z_OK; status !== Z_STREAM_END;) {
    if (!(await input.more())) throw input.truncated()
    stream.input = input.rest
    stream.next_in = 0
    stream.avail_in = input.rest.length
    do {
      const out = new Uint8Array(OUTPUT_BYTES)
      stream.output = out
      stream.next_out = 0
      stream.avail_out = OUTPUT_BYTES
      status = zlibInflate(stream, Z_NO_FLUSH)
      if (stream.next_out > 0) {
        const piece = out.subarray(0, stream.next_out)
        crc = crc32(piece, crc)
        length += piece.length
        yield piece
      }
      if (status !== Z_OK && status !== Z_STREAM_END && status !== Z_BUF_ERROR)
        throw input.corrupt('the gzip data are corrupt')
    } while (status !== Z_STREAM_END && stream.avail_out === 0)
    input.use(input.rest.length - stream.avail_in)
  }
  await checkTrailer(input, { crc, length }, start)
}
