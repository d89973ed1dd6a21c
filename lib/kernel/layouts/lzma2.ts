/** The most compressed bytes of a chunk. */
export const CHUNK = 65_536
