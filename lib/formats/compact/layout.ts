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

/** Types of sections. A reader skips unknown types that are lower-case letters. */
export const SECTION = { trace: 0x54, groups: 0x47, block: 0x42, checkpoint: 0x43, index: 0x69, end: 0x45 } as const
export const CAN_BE_SKIPPED = 0x20

/** A section begins with its type and the length of its body; a checksum of all of this follows. */
export const SECTION_HEAD = 5
export const CHECKSUM_BYTES = 4
/** A section's body is no longer than this. */
export const MAX_BODY = 1 << 26
/** The text of a header is no longer than this. */
export const MAX_HEADER = 1 << 22

/**
 * A trace begins with flags, the level of the model, and the length of the allocator's settings. If the model forgets
 * what it knew, the totals follow; then the settings.
 */
export const TRACE_HEAD = 3
/** The model forgets what it knew. */
export const FLAG_RESET = 1
/** How the model predicts: quickly, or by all that is known. */
export const LEVEL = { fast: 1, best: 2 } as const
export type CompactLevel = (typeof LEVEL)[keyof typeof LEVEL]

/** Whether a number is that of a level. */
export function isLevel(level: unknown): level is CompactLevel {
  return level === LEVEL.fast || level === LEVEL.best
}

/** At least this many events must lie between two resets of the model. */
export const RESET_EVENTS = 4096

/** A block begins with the number of its events and their checksum; the payload follows. */
export const BLOCK_HEAD = 8
/** A block has no more events than this. */
export const BLOCK_EVENTS = 65_536

/** The number of traces, of blocks and of events so far; 8 bytes each. The end has them, and each place to begin. */
export const TOTALS_BYTES = 24
/** A checkpoint begins with the totals and the length of the allocator's settings; they and the payload follow. */
export const CHECKPOINT_HEAD = TOTALS_BYTES + 1

/** An entry of the index: offsets of the place and of its trace section, and the totals before the place. */
export const ENTRY_BYTES = 40
/** The index ends with its own offset (8 bytes) and the length of the section (4 bytes). */
export const INDEX_TAIL = 12
/** The index has no more entries than this: places after them are not in it. */
export const MAX_ENTRIES = 65_536

/** Every field of every kind. */
export const CARRIED: Carried = Object.fromEntries(KINDS.map((kind) => [kind, ALL_FIELDS]))

/** Where a reader or writer is. */
export function place(offset: number, events: number): TracePosition {
  return { format: FORMAT, offset, event: events + 1 }
}
