import type { Compressed } from './compressed.js'
import { isGzip } from './magic.js'

const FLAG_CRC = 2
const FLAG_EXTRA = 4
const FLAG_NAME = 8
const FLAG_COMMENT = 16
const RESERVED_FLAGS = 0xe0
const DEFLATE = 8

const FIXED_BYTES = 10

/** The length of the header at the beginning of `bytes`, if it is complete and known; otherwise -1. */
export function headerLength(bytes: Uint8Array): number {
  if (bytes.length < FIXED_BYTES || !isGzip(bytes)) return -1
  const flags = bytes[3]
  if (bytes[2] !== DEFLATE || (flags & RESERVED_FLAGS) !== 0) return -1
  let at = FIXED_BYTES
  if (flags & FLAG_EXTRA) {
    if (bytes.length < at + 2) return -1
    at += 2 + bytes[at] + bytes[at + 1] * 256
  }
  for (const flag of [FLAG_NAME, FLAG_COMMENT]) {
    if ((flags & flag) === 0) continue
    const end = bytes.indexOf(0, at)
    if (end < 0) return -1
    at = end + 1
  }
  if (flags & FLAG_CRC) at += 2
  return at < bytes.length ? at : -1
}

/** Skips a member's header (RFC 1952, section 2.3), however long it is. */
export async function skipHeader(input: Compressed): Promise<void> {
  const at = input.offset
  const fixed = await input.take(FIXED_BYTES)
  if (!isGzip(fixed)) throw input.corrupt('the bytes after the last gzip member are not gzip', at)
  const flags = fixed[3]
  if (fixed[2] !== DEFLATE || (flags & RESERVED_FLAGS) !== 0)
    throw input.corrupt('a gzip member is of an unknown kind', at)
  if (flags & FLAG_EXTRA) {
    const length = await input.take(2)
    await input.take(length[0] + length[1] * 256)
  }
  if (flags & FLAG_NAME) await skipString(input)
  if (flags & FLAG_COMMENT) await skipString(input)
  if (flags & FLAG_CRC) await input.take(2)
}

async function skipString(input: Compressed): Promise<void> {
  for (;;) {
    if (!(await input.more())) throw input.truncated()
    const end = input.rest.indexOf(0)
    input.use(end < 0 ? input.rest.length : end + 1)
    if (end >= 0) return
  }
}
