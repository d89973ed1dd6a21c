/** The faults of the coder. */
export const FINE = 0
export const DAMAGED = 1
export const NO_MEMORY = 2

/** A name has no more bytes than this. */
export const MAX_NAME = 16_777_216
/** A stack has no more frames than this, and a block no more bytes of new names. */
export const MAX_FRAMES = 1_048_576
export const MAX_NEW_NAMES = 33_554_432
