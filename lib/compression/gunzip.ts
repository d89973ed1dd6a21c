import type { TraceError } from '../event/error.js'
import { Compressed } from './compressed.js'

/** The length of a member's trailer: CRC-32 and length of the content (RFC 1952, section 2.3.1). */
export const TRAILER_BYTES = 8
/** The length of its first part. */
export const CRC_BYTES = 4

/**
 * Inflates the current member of the input, including header and trailer, and possibly some that follow. The content is
 * delivered before its fault is thrown.
 */
export type MemberInflater = (input: Compressed) => AsyncIterable<Uint8Array>

/**
 * Inflates a gzip stream: concatenated members, and zero bytes after the last one, as left by tape padding. The content
 * of a member is delivered before its fault is thrown.
 *
 * @param source the compressed bytes, from the first byte of the first member
 * @throws TraceError with the offset in the compressed stream: a member that is truncated or corrupt, or bytes after
 *   the last member that are not gzip
 */
export async function* gunzip(
  source: AsyncIterable<Uint8Array>,
  inflateMembers: MemberInflater,
): AsyncGenerator<Uint8Array, void, void> {
  const input = new Compressed(source)
  try {
    while (await atNextMember(input)) yield* inflateMembers(input)
  } finally {
    await input.close()
  }
}

/** Whether another member follows; skips zero bytes. */
async function atNextMember(input: Compressed): Promise<boolean> {
  while (await input.more()) {
    if (input.rest[0] === 0x1f) return true
    if (input.rest[0] !== 0) throw input.corrupt('the bytes after the last gzip member are not gzip')
    let zeros = 0
    while (input.rest[zeros] === 0) zeros++
    input.use(zeros)
  }
  return false
}

/** What a member's content was found to be. */
interface Content {
  readonly crc: number
  readonly length: number
}

/**
 * Reads a member's trailer.
 * @param start the offset of the member
 * @throws TraceError when it is missing, or does not match the content
 */
export async function checkTrailer(input: Compressed, content: Content, start: number): Promise<void> {
  const trailer = trailerOf(content)
  const read = Buffer.from(await input.take(TRAILER_BYTES))
  if (!read.equals(trailer))
    throw wrongTrailer(input, read.subarray(0, CRC_BYTES).equals(trailer.subarray(0, CRC_BYTES)), start)
}

/** The trailer that a member with some content has. */
export function trailerOf({ crc, length }: Content): Buffer {
  const trailer = Buffer.alloc(TRAILER_BYTES)
  trailer.writeUInt32LE(crc >>> 0, 0)
  trailer.writeUInt32LE(length % 0x1_0000_0000, CRC_BYTES)
  return trailer
}

/**
 * The error for a trailer that does not match the content: with the offset of the member, which may be damaged
 * anywhere.
 */
export function wrongTrailer(input: Compressed, isCrcRight: boolean, start: number): TraceError {
  return input.corrupt(`the ${isCrcRight ? 'length' : 'CRC-32'} of a gzip member is wrong`, start)
}
