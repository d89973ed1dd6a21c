/** What an event did to the live set: a set of these bits. */
export const Change = {
  /** A block began. */
  began: 1,
  /** A block ended. With `began`, in a realloc, it goes on as the one that began. */
  ended: 2,
  /** A free or realloc of a block that is not live. */
  unknown: 4,
  /** With `unknown`: the block was freed not long ago. */
  again: 8,
  /** With `began`: a block was live at the address already. It is no more. */
  reused: 16,
  /** A free of the null pointer, or a realloc of it to nothing: no change. */
  nothing: 32,
  /** An allocation without a result, or a realloc that failed: no change. */
  failed: 64,
} as const
