import { ALL_FIELDS, KINDS } from '../../event/fields.js'
import type { Carried } from '../../event/losses.js'
import type { TracePosition } from '../../event/error.js'

export { MAX_FRAMES, MAX_NAME, MAX_NEW_NAMES } from '../../kernel/layouts/compact.js'

/** The format's name in messages. */
export const FORMAT = 'compact'

/** The first bytes of a file. The first is not ASCII, and the line ends reveal damage by a text-mode transfer. */
export const MAGIC = Uint8Array.of(0x89, 0x48, 0x46, 0x43, 0x0d, 0x0a, 0x1a, 0x0a)
/** After the magic number: the version, and a byte of flags, none of which is defined yet. */
export const VERSION = 1
export const HEAD_BYTES = MAGIC.length + 2

/**
 * Types of sections. A reader skips unknown types that are lower-case letters. In a block of type `ending`, the model
 * forgets the blocks of processes that end.
 */
export const SECTION = {
  trace: 0x54,
  groups: 0x47,
  block: 0x42,
  ending: 0x50,
  checkpoint: 0x43,
  index: 0x69,
  end: 0x45,
} as const
export const CAN_BE_SKIPPED = 0x20

/** Whether a section of this type is a block. */
export function isBlock(type: number): boolean {
  return type === SECTION.block || type === SECTION.ending
}

/** A section has its type, the length of its body, the body, and a checksum of all of this. */
export const SECTION_HEAD = 5
export const CHECKSUM_BYTES = 4
export const SECTION_MORE = SECTION_HEAD + CHECKSUM_BYTES
/** The maximum length of a section's body. */
export const MAX_BODY = 1 << 26
/** The maximum length of the text of a header. */
export const MAX_HEADER = 1 << 22

/**
 * A trace begins with flags, the level of the model, and the length of the allocator's settings. If the model is reset,
 * the totals follow; then the settings.
 */
export const TRACE_HEAD = 3
/** The model is reset. */
export const FLAG_RESET = 1
/** The levels of the model: fast predictions, or the best ones. */
export const LEVEL = { fast: 1, best: 2 } as const
export type CompactLevel = (typeof LEVEL)[keyof typeof LEVEL]

/** Whether a number is a level. */
export function isLevel(level: unknown): level is CompactLevel {
  return level === LEVEL.fast || level === LEVEL.best
}

/** A block begins with the number of its events and their checksum; the payload follows. */
export const BLOCK_HEAD = 8
/** The maximum number of events of a block. */
export const BLOCK_EVENTS = 65_536

/**
 * The totals: the number of traces, of blocks and of events so far; 8 bytes each. The end and each place to begin have
 * them.
 */
export const TOTALS_BYTES = 24
/**
 * A checkpoint begins with the totals and the length of the allocator's settings; the settings and the payload follow.
 */
export const CHECKPOINT_HEAD = TOTALS_BYTES + 1

/** An entry of the index: offsets of the place and of its trace section, and the totals before the place. */
export const ENTRY_BYTES = 40
/** The index ends with its own offset (8 bytes) and the length of the section (4 bytes). */
export const INDEX_TAIL = 12
/** The maximum number of entries of the index, which lacks later places. */
export const MAX_ENTRIES = 65_536

/** Every field of every kind. */
export const CARRIED: Carried = Object.fromEntries(KINDS.map((kind) => [kind, ALL_FIELDS]))

/** The position of a reader or writer. */
export function place(offset: number, events: number): TracePosition {
  return { format: FORMAT, offset, event: events + 1 }
}
