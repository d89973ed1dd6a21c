/**
 * The reason why `decode` stopped: the input is used up, the wrapper has to read the next line, or to deliver the
 * batch.
 */
export const USED_UP = 0
export const RARE = 1
export const FULL = 2
/** In place of a field: none. */
export const NO_FIELD = 32

/**
 * Texts of names: the offsets of the mask of their bytes, after the bytes; of the length, the type of value and the
 * address of the column; and the distance of texts in bytes.
 */
export const MASK_AT = 16
export const LENGTH_AT = 32
export const TYPE_AT = 36
export const COLUMN_AT = 40
export const TEXT_BYTES = 64
/** The distance, in texts, from the text of a field to the same text with spaces. */
export const SPACED = 64
/** The end of a line has a text, as fields do. */
export const END_OF_LINE = 31
/** The number of slots for texts, by the hash of four letters, and how they are found. */
export const SLOTS = 64
export const HASH_FACTOR = 0xa8b0_4c3b
export const HASH_SHIFT = 26

/** The types of values. */
export const AS_U64 = 0
export const AS_ADDRESS = 1
export const AS_U32 = 2
export const AS_I32 = 3
export const AS_API = 4
export const AS_OUTCOME = 5
export const AS_STRING = 6
export const AS_BYTES = 7
export const AS_LIST = 8
export const AS_JSON = 9
export const AS_END = 10
