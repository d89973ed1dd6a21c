import { constants, crc32, inflateRawSync } from 'node:zlib'
import type { Compressed } from './compressed.js'
import { TRAILER_BYTES } from './gunzip.js'
import { headerLength } from './gzip-header.js'

/** Members with more deflated data than this, or with more output than `MAX_OUTPUT`, are not inflated here. */
const MAX_INPUT = 32_768
const MAX_OUTPUT = 262_144

const OPTIONS = {
  // Node's types lack `info`, which has the number of bytes used.
  info: true,
  chunkSize: 4096,
  finishFlush: constants.Z_SYNC_FLUSH,
  maxOutputLength: MAX_OUTPUT,
} as const

/** The result of `inflateRawSync` with `info`. */
interface Inflated {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}

/** A member, inflated. */
interface Member {
  readonly content: Buffer
  /** Its compressed size in bytes, with header and trailer. */
  readonly length: number
}

/**
 * Inflates small members that are wholly in the available bytes, synchronously, because each takes less time than a
 * turn of the event loop. Stops before any other or damaged member.
 */
export function* wholeMembers(input: Compressed): Generator<Uint8Array> {
  const contents: Buffer[] = []
  let length = 0
  for (;;) {
    const member = wholeMember(input.rest)
    if (member === undefined) break
    input.use(member.length)
    if (member.content.length === 0) continue
    contents.push(member.content)
    length += member.content.length
    if (length >= MAX_OUTPUT) {
      yield Buffer.concat(contents.splice(0), length)
      length = 0
    }
  }
  if (length > 0) yield Buffer.concat(contents, length)
}

/** The member at the beginning of bytes, if it is small, complete and valid. */
function wholeMember(bytes: Uint8Array): Member | undefined {
  const start = headerLength(bytes)
  if (start < 0) return undefined
  const data = bytes.subarray(start, start + MAX_INPUT)
  let inflated: Inflated
  try {
    inflated = inflateRawSync(data, OPTIONS) as unknown as Inflated
  } catch {
    // Damaged, or the output is too large: the step-by-step inflater determines which.
    return undefined
  }
  const { buffer: content, engine } = inflated
  const end = start + engine.bytesWritten
  // If all data was used, more may follow.
  if (engine.bytesWritten === data.length || bytes.length < end + TRAILER_BYTES) return undefined
  const trailer = new DataView(bytes.buffer, bytes.byteOffset + end, TRAILER_BYTES)
  if (trailer.getUint32(0, true) !== crc32(content) || trailer.getUint32(4, true) !== content.length) return undefined
  return { content, length: end + TRAILER_BYTES }
}
