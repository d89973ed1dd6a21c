/**
 * Exact figures at the peak of live bytes, by row, without a pass over all rows at each new maximum. A row saves its
 * live figures as its figures at the peak when it changes for the first time after a maximum was left; a row that has
 * not changed since is at the peak what it is now. So a rising level costs nothing.
 */

/** How many maxima of live bytes were left. A row whose stamp differs has not changed since the last one. */
export let maxima: u64 = 0
/** Live bytes are at their maximum, and no block has begun or ended since it was reached. */
let isAtMaximum: bool = false

/** The event in hand reached a new maximum. */
// @ts-ignore: decorator
@inline
export function reachMaximum(): void {
  isAtMaximum = true
}

/** Something is about to change without reaching a new maximum. Call this before any row changes. */
// @ts-ignore: decorator
@inline
export function leaveMaximum(): void {
  if (!isAtMaximum) return
  maxima++
  isAtMaximum = false
}
