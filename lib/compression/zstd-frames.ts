import { limit, malformed } from '../event/error.js'
import type { Compressed } from './compressed.js'
import { isSkippable, ZSTD_MAGIC } from './magic.js'
import { MAX_BLOCK } from '../kernel/layouts/zstd.js'

export { MAX_BLOCK }

/**
 * The largest window in bytes that is accepted: inflaters allocate that much. The levels of zstd up to 20 need no more.
 */
export const MAX_WINDOW = 33_554_432

export const MAGIC_BYTES = 4
export const BLOCK_HEADER_BYTES = 3
const CHECKSUM_BYTES = 4

const [RLE_BLOCK, RESERVED_BLOCK] = [1, 3]

/** A frame, as its header describes it. */
export interface ZstdFrame {
  /** The header, from the magic number on. */
  readonly header: Uint8Array
  /** The size of its window in bytes. */
  readonly window: number
  /** The length of its content in bytes, if the header states it. */
  readonly content: number | undefined
  /** Its last bytes are the checksum of its content. */
  readonly checksumBytes: number
}

/** One block, with its header. */
interface ZstdBlock {
  readonly bytes: Uint8Array
  readonly isLast: boolean
}

/**
 * The next frame; skippable frames are skipped.
 * @returns undefined at the end of the input
 * @throws TraceError for a frame that is truncated or malformed, needs a dictionary or too large a window, and for
 *   other bytes
 */
export async function nextFrame(input: Compressed): Promise<ZstdFrame | undefined> {
  while (await input.more()) {
    const { offset } = input
    const magic = await input.take(MAGIC_BYTES)
    if (ZSTD_MAGIC.every((byte, i) => byte === magic[i])) return frameHeader(input, offset)
    if (!isSkippable(magic)) throw malformed('the bytes after the last zstd frame are not zstd', at(offset))
    await input.skip(viewOf(await input.take(4)).getUint32(0, true))
  }
  return undefined
}

/** The rest of a frame's header, after its magic number (RFC 8878, section 3.1.1.1). */
async function frameHeader(input: Compressed, offset: number): Promise<ZstdFrame> {
  const descriptor = (await input.take(1))[0]
  return describeFrame(descriptor, await input.take(restBytes(descriptor)), offset)
}

/** The number of bytes in a frame's header after the descriptor. */
export function restBytes(descriptor: number): number {
  const { windowBytes, idBytes, sizeBytes } = fieldsOf(descriptor)
  return windowBytes + idBytes + sizeBytes
}

function fieldsOf(descriptor: number) {
  const isSingle = (descriptor & 0x20) !== 0
  return {
    isSingle,
    windowBytes: isSingle ? 0 : 1,
    idBytes: [0, 1, 2, 4][descriptor & 3],
    sizeBytes: [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6],
  }
}

/**
 * A frame by its header.
 * @param rest the bytes after the descriptor
 * @param offset of the frame, for errors
 * @throws TraceError for a frame that is malformed, or needs a dictionary or too large a window
 */
export function describeFrame(descriptor: number, rest: Uint8Array, offset: number): ZstdFrame {
  const { isSingle, windowBytes, idBytes } = fieldsOf(descriptor)
  if ((descriptor & 8) !== 0) throw malformed('a reserved bit of a zstd frame is set', at(offset))
  if (rest.subarray(windowBytes, windowBytes + idBytes).some((byte) => byte !== 0))
    throw malformed('the zstd frame needs a dictionary, which is not in the input', at(offset))
  const content = contentSize(rest.subarray(windowBytes + idBytes), descriptor >> 6)
  const window = isSingle ? (content as number) : windowSize(rest[0])
  if (window > MAX_WINDOW)
    throw limit(
      `the zstd frame needs a window of ${Math.ceil(window / 1048576)} MiB; at most ${MAX_WINDOW / 1048576} are ` +
        'read: decompress it first (zstd -dc --long=31 FILE | ...)',
      at(offset),
    )
  return {
    header: Buffer.concat([Buffer.from(ZSTD_MAGIC), Buffer.from([descriptor]), rest]),
    window,
    content,
    checksumBytes: (descriptor & 4) !== 0 ? CHECKSUM_BYTES : 0,
  }
}

function contentSize(bytes: Uint8Array, flag: number): number | undefined {
  if (bytes.length === 0) return undefined
  let size = 0
  for (let i = bytes.length - 1; i >= 0; i--) size = size * 256 + bytes[i]
  return flag === 1 ? size + 256 : size
}

function windowSize(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3))
  return base + (base / 8) * (descriptor & 7)
}

/** The next block of a frame. @throws TraceError when it is truncated, or too large */
export async function nextBlock(input: Compressed): Promise<ZstdBlock> {
  const { offset } = input
  const header = await input.take(BLOCK_HEADER_BYTES)
  const { size, isLast } = describeBlock(header, offset)
  return { bytes: Buffer.concat([header, await input.take(size)]), isLast }
}

/**
 * A block by its header: the bytes after it, and whether it is the last one of its frame.
 * @param offset of the block, for errors
 * @throws TraceError for a block that is too large, or of no known type
 */
export function describeBlock(header: Uint8Array, offset: number): { size: number; isLast: boolean } {
  const word = header[0] | (header[1] << 8) | (header[2] << 16)
  const type = (word >> 1) & 3
  const size = word >> 3
  if (type === RESERVED_BLOCK) throw malformed('a zstd block is of no known type', at(offset))
  if (size > MAX_BLOCK) throw malformed('a zstd block is too large', at(offset))
  return { size: type === RLE_BLOCK ? 1 : size, isLast: (word & 1) !== 0 }
}

function at(offset: number) {
  return { format: 'zstd', offset }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}
