/**
 * What a DTD may ask for at most. Real ones are far below; the limits keep hostile ones from taking memory or time.
 */

/** Characters of text (bytes, if it is given as bytes). */
export const MAX_TEXT = 1 << 20

/** Brackets and record types inside each other. */
export const MAX_DEPTH = 32

/** Record types. */
export const MAX_RECORDS = 4096

/** Leaves of one record type, those of the record types used in it too. */
export const MAX_LEAVES = 10_000

/** Leaves of all record types together. */
export const MAX_ALL_LEAVES = 100_000
