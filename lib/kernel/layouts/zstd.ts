/** A block has no more content. */
export const MAX_BLOCK = 131_072

/** The results of `decode` that are not lengths. */
export const CORRUPT = -1
export const NO_MEMORY = -2
