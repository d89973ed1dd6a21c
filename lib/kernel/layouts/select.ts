/** The maximum number of ranges. */
export const MAX_RANGES = 65_536
