/** The names of kinds, fields, functions and outcomes in lines, and how values are written. */

import { HASH_FACTOR, HASH_SHIFT, LENGTH_AT, MASK_AT, SLOTS } from '../../lib/kernel/layouts/ndjson'

/**
 * Texts, which the wrapper writes here: 16 bytes of text, a mask of 16 bytes, and the length. The text of a field
 * includes the comma before it and the quote or bracket that its value begins with. After the length come the type and
 * the address of the column. The last text is followed by one that matches nothing.
 */
export const FIELD_TEXTS: usize = memory.data(6144, 64)
export const KIND_TEXTS: usize = memory.data(896, 64)
export const API_TEXTS: usize = memory.data(832, 64)
export const OUTCOME_TEXTS: usize = memory.data(320, 64)

/** Per hash of four letters, 1 plus the first code whose name begins with them. */
export const FIELD_SLOTS: usize = memory.data(SLOTS)
export const KIND_SLOTS: usize = memory.data(SLOTS)
export const API_SLOTS: usize = memory.data(SLOTS)
export const OUTCOME_SLOTS: usize = memory.data(SLOTS)

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

export function stands(text: usize, p: usize): bool {
  return !v128.any_true(v128.and(v128.xor(v128.load(p), v128.load(text)), v128.load(text, MASK_AT)))
}

export function lengthOf(text: usize): usize {
  return load<u32>(text, LENGTH_AT)
}

export function slotOf(p: usize): usize {
  return (load<u32>(p) * HASH_FACTOR) >> HASH_SHIFT
}
