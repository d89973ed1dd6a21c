/** The notes of `encode` about an event. */

import { OTHER_API } from '../../lib/kernel/layouts/replay'

/** The losses of the last event: a set, usually empty. */
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
