/**
 * Exact figures at the peak of live bytes, by row, without a pass over all rows at each new maximum. A row saves its
 * live figures as its figures at the peak when it first changes after the level has left a maximum. The figures at the
 * peak of a row that has not changed since are its current ones. So a rising level costs nothing.
 */

/**
 * The number of maxima that the level of live bytes has left. A row with another stamp has not changed since the last
 * one.
 */
export let maxima: u64 = 0
/** Live bytes are at their maximum, and no block has begun or ended since it was reached. */
let isAtMaximum: bool = false

/** The current event reached a new maximum. */
export function reachMaximum(): void {
  isAtMaximum = true
}

/** Something is about to change without reaching a new maximum. Call this before any row changes. */
export function leaveMaximum(): void {
  if (!isAtMaximum) return
  maxima++
  isAtMaximum = false
}
