/**
 * A part of the timeline of statistics: the offsets of its figures, and its size in bytes. Those are the minimum and
 * maximum of live bytes, including those at its beginning; the live bytes and blocks at its end; the blocks allocated
 * and freed, and the bytes allocated, until then since the beginning of the stream; the time, and whether it is known;
 * the minimum and maximum of live blocks; and the most resident bytes of all processes, 0 where none are known.
 */
export const LEAST = 0
export const HIGHEST = 16
export const LEVEL = 32
export const BLOCKS = 48
export const COUNT = 56
export const FREED = 64
export const BYTES = 72
export const CLOCK = 88
export const TIMED = 96
export const FEWEST = 104
export const MOST_BLOCKS = 112
export const RESIDENT_MOST = 120
export const PART_BYTES = 136
