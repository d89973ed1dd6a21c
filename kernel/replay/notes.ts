/** What `encode` reports of an event. */

/**
 * What the text cannot represent of an event that `encode` wrote or dropped, as bits of a set. The wrapper has the
 * texts, and reports them in this order.
 */
export const NO_ADDRESS: u32 = 1 << 0
export const EXISTING_AS_MALLOC: u32 = 1 << 1
export const NOT_THE_FORMS_FIELDS: u32 = 1 << 2
export const OTHER_OUTCOME: u32 = 1 << 3
export const OTHER_API: u32 = 1 << 4
export const NOT_THE_PRODUCT: u32 = 1 << 5
export const CALLOC_WITHOUT_SIZE: u32 = 1 << 6
export const NOT_DIVISIBLE: u32 = 1 << 7
export const NO_SIZE: u32 = 1 << 8
export const ONE_TIME: u32 = 1 << 9
export const TIME_OF_DONE: u32 = 1 << 10
export const TIME_TOO_LARGE: u32 = 1 << 11
export const TIME_AS_END: u32 = 1 << 12
export const PRESENT_WITHOUT_TIMES: u32 = 1 << 13
export const NO_COUNT: u32 = 1 << 14
export const NULL_OF_DONE: u32 = 1 << 15

/** What could not be represented of the last event: a set, usually empty. */
export let notes: u32 = 0
/** The action that the last event was written as: a code of lib/event/fields.ts. */
export let writtenAs: u8 = 0

export function clearNotes(): void {
  notes = 0
}

export function note(what: u32): void {
  notes |= what
}

/** Notes that the event is written as another function than the one that was called. */
export function otherApi(form: u8): void {
  notes |= OTHER_API
  writtenAs = form
}

/** The event is written as this function. */
export function setForm(form: u8): void {
  writtenAs = form
}
