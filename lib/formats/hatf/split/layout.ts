/**
 * The first bytes of the single-file form. The first byte is no tag of HATF, so no stream of records starts like this.
 * As in PNG, the line ends and the end-of-file mark reveal damage by a text-mode transfer.
 */
export const MAGIC = Uint8Array.of(0x89, 0x48, 0x53, 0x41, 0x0d, 0x0a, 0x1a, 0x0a)

/** The version that this library reads and writes. */
export const VERSION = 1

/** Magic, version, fields, flags, a zero byte, CRC-32. */
export const HEADER_BYTES = MAGIC.length + 8

/** The first byte of each frame. */
export const Frame = { block: 0x42, end: 0x45 } as const

/** A header flag: the tracks include bytes under any interpretation. */
export const ENCODED = 1

/** The fixed bytes of a block's head: type, number of records, CRC-32 of the data and of the head. */
export const BLOCK_FIXED_BYTES = 1 + 4 + 4 + 4

/** The bytes of a block's head for each track: its length, and its stored length. */
export const BLOCK_TRACK_BYTES = 8

/** Type, number of records, number of bytes of HATF, CRC-32. */
export const END_BYTES = 1 + 8 + 8 + 4

/** The default size of a block: it is written when its tracks together have this many bytes. */
export const BLOCK_BYTES = 262_144

/** The largest allowed block size: with the last records, no track can then exceed its own limit. */
export const MAX_BLOCK_BYTES = 524_288

/** The maximum length of a track in a block. */
export const MAX_TRACK_BYTES = 1_048_576

/** The distance before a block to which its data may refer: the full window of deflate. */
export const WINDOW_BYTES = 32_768

/** The form of a HATF file. */
export type Form = 'records' | 'split'

/**
 * Recognizes the single-file form from the first bytes. One wrong byte in the magic number does not turn a damaged file
 * into a stream of records: no such stream starts with seven of its eight bytes by chance.
 * @param isWhole whether there are no more bytes than these
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
