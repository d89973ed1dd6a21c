/** What an event did to the live set: a set of these bits. */
export const BlockEffect = {
  /** A block began. */
  began: 1,
  /** A block ended. With `began`, in a realloc, it continues as the one that began. */
  ended: 2,
  /** A free or realloc of a block that is not live. */
  unknown: 4,
  /** With `unknown`: the block was freed not long ago. */
  again: 8,
  /** With `began`: a block was live at the address already. It is no longer live. */
  reused: 16,
  /** A free of the null pointer, or a realloc of it to nothing: no effect. */
  nothing: 32,
  /** An allocation without a result, or a realloc that failed: no effect. */
  failed: 64,
} as const
