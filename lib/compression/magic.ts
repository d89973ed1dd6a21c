/** The number of bytes needed to recognize a compressed input. */
export const MAGIC_BYTES = 10

/** Whether bytes begin as gzip does (RFC 1952, section 2.3.1). Two bytes are enough to decide. */
export function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b
}

/**
 * Whether bytes begin as a zip archive does, with the header of a file or, if it is empty, with its end. Four bytes are
 * enough to decide.
 */
export function isZip(head: Uint8Array): boolean {
  if (head[0] !== 0x50 || head[1] !== 0x4b) return false
  return (head[2] === 3 && head[3] === 4) || (head[2] === 5 && head[3] === 6)
}

/** The first bytes of an xz stream (The .xz File Format, section 2.1.1.1). */
export const XZ_MAGIC: readonly number[] = [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]

/** Whether bytes begin as xz does. Six bytes are enough to decide. */
export function isXz(head: Uint8Array): boolean {
  return XZ_MAGIC.every((byte, i) => byte === head[i])
}

/** The first bytes of a zstd frame (RFC 8878, section 3.1.1). */
export const ZSTD_MAGIC: readonly number[] = [0x28, 0xb5, 0x2f, 0xfd]

/** Whether bytes begin as zstd does, with a frame or a skippable frame (sections 3.1.1 and 3.1.2). */
export function isZstd(head: Uint8Array): boolean {
  return ZSTD_MAGIC.every((byte, i) => byte === head[i]) || isSkippable(head)
}

/** Whether bytes begin like a skippable frame. */
export function isSkippable(head: Uint8Array): boolean {
  return (head[0] ?? 0) >> 4 === 5 && head[1] === 0x2a && head[2] === 0x4d && head[3] === 0x18
}

/** What compressed bytes are that `decompress()` inflates, in words; undefined for others. Six bytes are enough. */
export function archiveName(head: Uint8Array): string | undefined {
  if (isGzip(head)) return 'gzip'
  if (isZstd(head)) return 'zstd'
  if (isXz(head)) return 'xz'
  return isZip(head) ? 'a zip archive' : undefined
}

/** Compression that is recognized, but not inflated here. */
interface Foreign {
  readonly name: string
  /** The command that inflates a file to standard output. */
  readonly command: string
}

const FOREIGN: readonly (Foreign & { readonly magic: readonly number[] })[] = [
  // `BZh`, the block size, and the mark of a block; in an empty file, the mark of the end
  { name: 'bzip2', command: 'bzip2 -dc', magic: [0x42, 0x5a, 0x68, -1, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59] },
  { name: 'bzip2', command: 'bzip2 -dc', magic: [0x42, 0x5a, 0x68, -1, 0x17, 0x72, 0x45, 0x38, 0x50, 0x90] },
  // The LZ4 frame format, section "General structure"
  { name: 'lz4', command: 'lz4 -dc', magic: [0x04, 0x22, 0x4d, 0x18] },
]

/** The compression of bytes that heapflow cannot inflate. Ten bytes are enough to decide. */
export function foreignCompression(head: Uint8Array): Foreign | undefined {
  return FOREIGN.find(({ magic }) => magic.every((byte, i) => byte === head[i] || (byte < 0 && i < head.length)))
}
