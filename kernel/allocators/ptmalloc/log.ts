/**
 * The changes made by a call, for undoing them: a call whose predicted address was wrong is repeated in another way. A
 * call that changes more than the log holds cannot be undone (`isLost`).
 */

const ROOM: usize = 1 << 19
const LOG: usize = memory.data(524288)
let end: usize = LOG
/** Whether the current call changed more than can be undone. */
export let isLost: bool = false

/** Begins a call; earlier changes become permanent. */
export function beginLog(): void {
  end = LOG
  isLost = false
}

/** The current end of the log, for `undo`. */
export function mark(): usize {
  return end
}

export function undoAll(): void {
  undo(LOG)
}

/** Undoes the changes since a mark, the latest first. */
export function undo(to: usize): void {
  while (end > to) {
    end -= 8
    store<u32>(<usize>load<u32>(end), load<u32>(end, 4))
  }
}

/** Remembers the word at an address (a multiple of 4), which is about to change. */
// @ts-ignore: decorator
@inline
export function save(at: usize): void {
  if (end < LOG + ROOM) {
    store<u32>(end, <u32>at)
    store<u32>(end, load<u32>(at), 4)
    end += 8
  } else {
    isLost = true
  }
}

// @ts-ignore: decorator
@inline
export function set32(at: usize, value: u32): void {
  save(at)
  store<u32>(at, value)
}

// @ts-ignore: decorator
@inline
export function set64(at: usize, value: u64): void {
  save(at)
  save(at + 4)
  store<u64>(at, value)
}
