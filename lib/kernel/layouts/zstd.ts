/** A block has no more content. */
export const MAX_BLOCK = 131_072

/** What `decode` returns in place of a length. */
export const CORRUPT = -1
export const NO_MEMORY = -2
