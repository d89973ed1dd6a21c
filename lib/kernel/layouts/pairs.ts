/**
 * A hash table of counts by key: the offsets of its slots, the logarithm of their number, the number in use, the limit,
 * and the counts without a slot; its size in bytes.
 */
export const SLOTS = 0
export const LOG = 4
export const USED = 8
export const LIMIT = 12
export const REST = 16
export const TABLE_BYTES = 16 + 24

/** A slot: the key plus 1, or 0 for none; the number of blocks, and their bytes; the logarithm of its size. */
export const KEY = 0
export const COUNT = 8
export const SUM = 16
export const SLOT_SHIFT = 5
