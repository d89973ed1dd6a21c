import { AGAIN, BEGAN, DONE, FAILED, NOTHING, REUSED, UNKNOWN } from '../kernel/layouts/live.js'

/** The effect of an event on the live set: a set of these bits. */
export const BlockEffect = {
  /** A block began. */
  began: BEGAN,
  /** A block ended. With `began`, in a realloc, it continues as the one that began. */
  ended: DONE,
  /** A free or realloc of a block that is not live. */
  unknown: UNKNOWN,
  /** With `unknown`: the block was freed not long ago. */
  again: AGAIN,
  /** With `began`: a block was live at the address already. It is no longer live. */
  reused: REUSED,
  /** A free of the null pointer, or a realloc of it to zero bytes: no effect. */
  nothing: NOTHING,
  /** An allocation without a result, or a realloc that failed: no effect. */
  failed: FAILED,
} as const
