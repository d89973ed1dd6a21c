/**
 * A hash table of counts by key, as kernel/shared/hash-table.ts has it: the addresses of its slots, and the offset of
 * the last of them; then the limit of the number of keys, and the counts of further ones; its size in bytes.
 */
export const SLOTS = 0
export const LAST = 4
export const LOG = 16
export const LIMIT = 48
export const REST = 56
export const TABLE_BYTES = 56 + 24

/** A slot: the key; the number of blocks, 0 for an empty one; and their bytes; the size of it. */
export const KEY = 0
export const COUNT = 8
export const SUM = 16
export const SLOT_BYTES = 32
