/** The number of bytes needed to recognize a compressed input. */
export const MAGIC_BYTES = 4

/** Whether bytes begin as gzip does (RFC 1952, section 2.3.1). Two bytes are enough to tell. */
export function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b
}

/**
 * Whether bytes begin as a zip archive does, with the header of a file or, if it is empty, with its end. Four bytes are
 * enough to tell.
 */
export function isZip(head: Uint8Array): boolean {
  if (head[0] !== 0x50 || head[1] !== 0x4b) return false
  return (head[2] === 3 && head[3] === 4) || (head[2] === 5 && head[3] === 6)
}
