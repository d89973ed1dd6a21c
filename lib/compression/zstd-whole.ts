import type { TraceError } from '../event/error.js'
import { isSkippable, ZSTD_MAGIC } from './magic.js'
import { Xxh64 } from './xxh64.js'
import { ZstdBlocks, ZstdFault } from './zstd-blocks.js'
import * as ZstdFrames from './zstd-frames.js'

const LEAST_BLOCK = 4

let blocks: ZstdBlocks | undefined
let hash: Xxh64 | undefined

/**
 * Inflates whole frames of which all bytes are there.
 * @param length the most bytes that they may hold
 * @throws ZstdFault for invalid data, more content, or a dictionary; RangeError for too large a window
 */
export function unzstdWhole(bytes: Uint8Array, length: number): Uint8Array {
  if (length < 0) throw new ZstdFault()
  // A block with content has at least four bytes. So a tiny input cannot ask for much memory.
  const out = new Uint8Array(Math.min(length, Math.floor(bytes.length / LEAST_BLOCK) * ZstdFrames.MAX_BLOCK))
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let written = 0
  let at = 0
  const take = (count: number): Uint8Array => {
    if (at + count > bytes.length) throw new ZstdFault()
    return bytes.subarray(at, (at += count))
  }
  const inflateFrame = (): void => {
    const descriptor = take(1)[0]
    const rest = take(ZstdFrames.restBytes(descriptor))
    const { window, checksumBytes, content } = described(() => ZstdFrames.describeFrame(descriptor, rest, 0))
    const begin = written
    blocks ??= new ZstdBlocks()
    blocks.begin(window)
    for (let isLast = false; !isLast;) {
      const start = at
      const header = take(ZstdFrames.BLOCK_HEADER_BYTES)
      const block = described(() => ZstdFrames.describeBlock(header, 0))
      take(block.size)
      const part = blocks.decode(bytes.subarray(start, at))
      if (written + part.length > out.length) throw new ZstdFault()
      out.set(part, written)
      written += part.length
      ;({ isLast } = block)
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
    const magic = take(ZstdFrames.MAGIC_BYTES)
    if (ZSTD_MAGIC.every((byte, i) => byte === magic[i])) inflateFrame()
    else if (isSkippable(magic)) {
      take(4)
      take(view.getUint32(at - 4, true))
    } else throw new ZstdFault()
  }
  return out.subarray(0, written)
}

/** What a header says. Only the caller knows the place of a fault. */
function described<Header>(read: () => Header): Header {
  try {
    return read()
  } catch (error) {
    if ((error as TraceError).code !== 'ERR_TRACE_LIMIT') throw new ZstdFault(undefined, error)
    throw new RangeError(`a zstd frame needs a window of more than ${ZstdFrames.MAX_WINDOW / 1_048_576} MiB`, {
      cause: error,
    })
  }
}
