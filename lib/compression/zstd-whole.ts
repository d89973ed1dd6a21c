import * as zlib from 'node:zlib'
import { isSkippable, ZSTD_MAGIC } from './magic.js'
import { Xxh64 } from './xxh64.js'
import { ZstdBlocks, ZstdFault } from './zstd-blocks.js'
import { describeFrame, MAX_BLOCK, restBytes } from './zstd-frames.js'

const MAGIC_BYTES = 4
const BLOCK_HEADER_BYTES = 3
const [REPEATED, RESERVED] = [1, 3]

/** A function of node:zlib since Node 22.15, which the types of older versions lack. */
interface ZlibWithZstd {
  readonly zstdDecompressSync?: (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array
}

/**
 * Inflates whole frames of which all bytes are there, with node:zlib where that supports zstd.
 * @param length the most bytes that they may hold
 * @throws Error for invalid data, more content, a dictionary, or too large a window
 */
export function unzstdSync(bytes: Uint8Array, length: number): Uint8Array {
  const { zstdDecompressSync } = zlib as unknown as ZlibWithZstd
  if (zstdDecompressSync === undefined) return unzstdByKernel(bytes, length)
  return zstdDecompressSync(bytes, { maxOutputLength: Math.max(1, length) })
}

let blocks: ZstdBlocks | undefined
let hash: Xxh64 | undefined

/** The same with a kernel. */
export function unzstdByKernel(bytes: Uint8Array, length: number): Uint8Array {
  const out = new Uint8Array(length)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let written = 0
  let at = 0
  const take = (count: number): Uint8Array => {
    if (at + count > bytes.length) throw new ZstdFault()
    return bytes.subarray(at, (at += count))
  }
  const inflateFrame = (): void => {
    const descriptor = take(1)[0] as number
    const { window, checksumBytes, content } = describeFrame(descriptor, take(restBytes(descriptor)), at)
    const begin = written
    blocks ??= new ZstdBlocks()
    blocks.begin(window)
    for (let isLast = false; !isLast;) {
      const start = at
      const [low, middle, high] = take(BLOCK_HEADER_BYTES) as unknown as [number, number, number]
      const word = low | (middle << 8) | (high << 16)
      const type = (word >> 1) & 3
      const size = word >> 3
      if (type === RESERVED || size > MAX_BLOCK) throw new ZstdFault()
      take(type === REPEATED ? 1 : size)
      const part = blocks.decode(bytes.subarray(start, at))
      if (written + part.length > length) throw new ZstdFault()
      out.set(part, written)
      written += part.length
      isLast = (word & 1) !== 0
    }
    if (written - begin !== (content ?? written - begin)) throw new ZstdFault()
    const checksum = take(checksumBytes)
    if (checksumBytes === 0) return
    hash ??= new Xxh64()
    hash.reset()
    hash.update(out.subarray(begin, written))
    if (!hash.is(checksum)) throw new ZstdFault()
  }
  while (at < bytes.length) {
    const magic = take(MAGIC_BYTES)
    if (ZSTD_MAGIC.every((byte, i) => byte === magic[i])) inflateFrame()
    else if (isSkippable(magic)) {
      take(4)
      take(view.getUint32(at - 4, true))
    } else throw new ZstdFault()
  }
  return out.subarray(0, written)
}
