/**
 * The first bytes of the single-file form. The first is no tag of HATF, so no stream of records begins like this; the
 * line ends and the end-of-file mark show what a transfer as text would do, as in PNG.
 */
export const MAGIC = Uint8Array.of(0x89, 0x48, 0x53, 0x41, 0x0d, 0x0a, 0x1a, 0x0a)

/** The version that is written and read. */
export const VERSION = 1

/** Magic, version, fields, flags, a zero byte, CRC-32. */
export const HEADER_BYTES = MAGIC.length + 8

/** The first byte of each frame. */
export const Frame = { block: 0x42, end: 0x45 } as const

/** A flag of the header: bytes under any interpretation were taken out. */
export const ENCODED = 1

/** Bytes of a block's head besides its lengths: type, number of records, CRC-32 of the data and of the head. */
export const BLOCK_FIXED_BYTES = 1 + 4 + 4 + 4

/** Bytes of a block's head for each track: its length, and its length as stored. */
export const BLOCK_TRACK_BYTES = 8

/** Type, number of records, number of bytes of HATF, CRC-32. */
export const END_BYTES = 1 + 8 + 8 + 4

/** A block is written when its tracks have this many bytes together, unless the writer is told otherwise. */
export const BLOCK_BYTES = 262_144

/** The most that the writer can be told: with its last records, no track is then longer than it may be. */
export const MAX_BLOCK_BYTES = 524_288

/** No track of a block may be longer. */
export const MAX_TRACK_BYTES = 1_048_576

/** How many bytes before a block its data may refer to: all that deflate can. */
export const WINDOW_BYTES = 32_768

/** What the first bytes of a HATF file say of its form. */
export type Form = 'records' | 'split'

/**
 * Tells the single-file form from a plain stream of records. One wrong byte among the first does not make records of a
 * damaged file: no stream begins with seven of the magic's eight bytes by chance.
 * @param isWhole there are no more bytes than these
 * @returns undefined when more bytes are needed
 */
export function formOf(head: Uint8Array, isWhole: boolean): Form | undefined {
  const n = Math.min(head.length, MAGIC.length)
  let wrong = 0
  for (let i = 0; i < n; i++) if (head[i] !== MAGIC[i]) wrong++
  if (wrong > 1) return 'records'
  if (n === MAGIC.length) return 'split'
  if (!isWhole) return undefined
  return head[0] === MAGIC[0] ? 'split' : 'records'
}
