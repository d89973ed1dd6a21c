/** Threads with calls that have not returned. */

import { LINE_THREAD } from './head'
import { ARGUMENTS, count, does, nameAt, nameLength, objectHash } from './call'

/**
 * A place for each such thread: its id, the number of its calls, and the first calls. When all places are taken, a
 * thread is forgotten.
 */
const MAX_THREADS: usize = 256
export const MAX_DEPTH: u32 = 8
export const CALL_BYTES: usize = 448
export const THREAD_BYTES: usize = 3600
export const THREADS: usize = memory.data(921_600)
/** The longest name of a module of a call that has not returned: the longest file name. */
export const MAX_MODULE: u32 = 255
/** No call of an allocator's function makes so many others: one of those around them does not return. */
const MAX_LEFT_OUT: u32 = 256
/** The number of places in use. */
export let open: u32 = 0
let nextThread: usize = 0
export const T_DEPTH: usize = 8
/** The number of calls that were left out because they are within others. */
const T_LEFT_OUT: usize = 12
export const T_CALLS: usize = 16
export const C_DOES: usize = 0
export const C_COUNT: usize = 4
export const C_HEAD: usize = 8
export const C_NAME_LENGTH: usize = 12
export const C_MODULE_LENGTH: usize = 16
/** See `objectHash`. */
export const C_OBJECT: usize = 20
export const C_TIME: usize = 24
export const C_SITE: usize = 32
export const C_ARGUMENTS: usize = 40
/** The address that a call within this one received. */
export const C_INNER: usize = 64
export const C_NAME: usize = 72
export const C_MODULE: usize = 192

export function clearThreads(): void {
  open = 0
  nextThread = 0
  memory.fill(THREADS, 0, MAX_THREADS * THREAD_BYTES)
}

/** Forgets the calls of a place. */
export function release(place: usize): void {
  store<u32>(place, 0, T_DEPTH)
  store<u32>(place, 0, T_LEFT_OUT)
  open--
}

/** The place of the line's thread, or 0. With `makes`, a thread without a place gets one. */
export function threadOf(makes: bool): usize {
  const thread = load<u64>(LINE_THREAD)
  let free: usize = 0
  for (let n: usize = 0; n < MAX_THREADS; n++) {
    const at = THREADS + n * THREAD_BYTES
    if (load<u32>(at, T_DEPTH) == 0) {
      if (free == 0) free = at
    } else if (load<u64>(at) == thread) return at
  }
  if (!makes) return 0
  if (free == 0) {
    free = THREADS + nextThread * THREAD_BYTES
    nextThread = (nextThread + 1) % MAX_THREADS
    open--
  }
  store<u64>(free, thread)
  store<u32>(free, 0, T_DEPTH)
  store<u32>(free, 0, T_LEFT_OUT)
  open++
  return free
}

/** Notes the address that a call within `depth` others received. */
export function noteInner(place: usize, depth: u32, address: u64): void {
  for (let n: u32 = 0; n < min(depth, MAX_DEPTH); n++)
    store<u64>(place + T_CALLS + <usize>n * CALL_BYTES, address, C_INNER)
}

/**
 * Forgets the calls of a place that cannot be around those that follow, because none returns.
 * @returns the number of calls that were left out
 */
export function abandon(place: usize): u32 {
  const leftOut = load<u32>(place, T_LEFT_OUT)
  release(place)
  return leftOut
}

/** Forgets all calls that have not returned. @returns the number of calls that were left out */
export function abandonAll(): u32 {
  let leftOut: u32 = 0
  for (let n: usize = 0; open > 0 && n < MAX_THREADS; n++) {
    const place = THREADS + n * THREAD_BYTES
    if (load<u32>(place, T_DEPTH) > 0) leftOut += abandon(place)
  }
  return leftOut
}

/** Counts a call that is left out. @returns false if there were too many: the calls around it do not return */
export function leavesOut(place: usize): bool {
  const leftOut = load<u32>(place, T_LEFT_OUT)
  if (leftOut == MAX_LEFT_OUT) return false
  store<u32>(place, leftOut + 1, T_LEFT_OUT)
  return true
}

/**
 * Whether the line has the innermost call of a place once more: the same function of the same object, with the same
 * arguments. Functions that begin again with a jump are logged twice, and return once: `free` of glibc 2.43 does so
 * when a thread calls it for the first time.
 */
export function isAgain(place: usize): bool {
  const depth = load<u32>(place, T_DEPTH)
  if (depth > MAX_DEPTH) return false
  const call = place + T_CALLS + <usize>(depth - 1) * CALL_BYTES
  const object = objectHash()
  return (
    object != 0 &&
    object == load<u32>(call, C_OBJECT) &&
    does == load<u32>(call, C_DOES) &&
    nameLength == load<u32>(call, C_NAME_LENGTH) &&
    count == load<u32>(call, C_COUNT) &&
    memory.compare(call + C_NAME, nameAt, nameLength) == 0 &&
    memory.compare(call + C_ARGUMENTS, ARGUMENTS, (<usize>count) << 3) == 0
  )
}
