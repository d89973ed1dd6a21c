/** The names of kinds, fields, functions and outcomes in lines, and how values are written. */

/**
 * Texts, which the wrapper writes here: 16 bytes of text, a mask of 16 bytes, and the length. The text of a field
 * includes the comma before it and the quote or bracket that its value begins with. After the length come the type and
 * the address of the column. The last text is followed by one that matches nothing.
 */
export const FIELD_TEXTS: usize = memory.data(6144, 64)
/**
 * The distance, in texts, from the text of a field to the one with a space after comma and colon, as many programs
 * write JSON. A text of more than 16 bytes has no such counterpart.
 */
export const SPACED: u32 = 64
export const KIND_TEXTS: usize = memory.data(832, 64)
export const API_TEXTS: usize = memory.data(832, 64)
export const OUTCOME_TEXTS: usize = memory.data(320, 64)
export const MASK_AT: usize = 16
export const LENGTH_AT: usize = 32
export const TYPE_AT: usize = 36
export const COLUMN_AT: usize = 40

/** Per hash of four letters, 1 plus the first code whose name begins with them. */
export const FIELD_SLOTS: usize = memory.data(64)
export const KIND_SLOTS: usize = memory.data(64)
export const API_SLOTS: usize = memory.data(64)
export const OUTCOME_SLOTS: usize = memory.data(64)

/** The types of values, as in lib/formats/ndjson/layout.ts. */
export const AS_U64: u32 = 0
export const AS_ADDRESS: u32 = 1
export const AS_U32: u32 = 2
export const AS_I32: u32 = 3
export const AS_API: u32 = 4
export const AS_OUTCOME: u32 = 5
export const AS_STRING: u32 = 6
export const AS_BYTES: u32 = 7
export const AS_LIST: u32 = 8
/** Decoding JSON takes a parser and is left to the wrapper. */
export const AS_JSON: u32 = 9
export const AS_END: u32 = 10

/** The end of a line has a text, as fields do. */
export const END_OF_LINE: u32 = 31
export const NO_FIELD: u32 = 32

/** `{"kind":` */
export const KIND_KEY: u64 = 0x3a22_646e_696b_227b
/** A space and a quote. */
export const SPACED_QUOTE: u32 = 0x2220
/** A comma and a space. */
export const SPACED_COMMA: u32 = 0x202c
export const QUOTE: u32 = 0x22
export const COMMA: u32 = 0x2c
export const MINUS: u32 = 0x2d
export const CLOSING_BRACKET: u32 = 0x5d

// @ts-ignore: decorator
@inline
export function stands(text: usize, p: usize): bool {
  return !v128.any_true(v128.and(v128.xor(v128.load(p), v128.load(text)), v128.load(text, MASK_AT)))
}

// @ts-ignore: decorator
@inline
export function lengthOf(text: usize): usize {
  return load<u32>(text, LENGTH_AT)
}

// @ts-ignore: decorator
@inline
export function slotOf(p: usize): usize {
  return (load<u32>(p) * 0xa8b0_4c3b) >> 26
}
