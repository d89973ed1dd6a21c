/** The weights that each sort of decision of the best level has, as numbers of their first selectors. */

export const THREAD_SAME: u32 = 0
export const THREAD_GUESSED: u32 = 8
export const THREAD_NUMBER: u32 = 10
export const WHOLE: u32 = 16
export const IS_FREE: u32 = 32
export const IS_KNOWN: u32 = 64
export const RARE: u32 = 65
export const SURPRISED: u32 = 68
export const CLASS: u32 = 72
export const DISTANCE: u32 = 80
export const CANDIDATE: u32 = 96
export const TARGET: u32 = 256
