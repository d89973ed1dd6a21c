/** Calls whose result comes in a later line. */

import { LINE_PROCESS } from './head'

/**
 * Calls without a result yet, of up to 16 processes. A place holds the process, its state, the result of its last call,
 * and the call.
 */
const PENDING: usize = memory.data(2048)
const PENDING_BYTES: usize = 128
const MAX_PENDING: usize = 16
export const P_IS: usize = 8
export const P_LAST: usize = 16
export const P_DOES: usize = 24
export const P_COUNT: usize = 28
export const P_ARGUMENTS: usize = 32
export const P_NAME_LENGTH: usize = 56
export const P_NAME: usize = 64
export const MAX_NAME: u32 = 48
/** The place that is reused next when all are taken. */
let nextPlace: usize = 0

/** States of a place: no call is pending, or one is. */
export const IDLE: u32 = 1
export const WAITING: u32 = 2

/** The place of the line's process, taken now if it has none. */
export function placeOf(): usize {
  const process = load<u64>(LINE_PROCESS)
  let free: usize = 0
  for (let n: usize = 0; n < MAX_PENDING; n++) {
    const at = PENDING + n * PENDING_BYTES
    const state = load<u32>(at, P_IS)
    if (state == 0) {
      if (free == 0) free = at
    } else if (load<u64>(at) == process) return at
  }
  if (free == 0) {
    free = PENDING + nextPlace * PENDING_BYTES
    nextPlace = (nextPlace + 1) % MAX_PENDING
  }
  memory.fill(free, 0, PENDING_BYTES)
  store<u64>(free, process)
  store<u32>(free, IDLE, P_IS)
  return free
}

/** Starts a trace. */
export function begin(): void {
  memory.fill(PENDING, 0, MAX_PENDING * PENDING_BYTES)
  nextPlace = 0
}
