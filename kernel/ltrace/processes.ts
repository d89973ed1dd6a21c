/**
 * The process of each thread. The log shows it for forked processes, if `fork` is among the calls, or with -S the
 * system call clone, and for processes that run another program. A new thread is assigned to the process that last
 * forked, ran another program or created a thread, which is right for most programs; the log has no more information.
 */

import { findEither } from '../shared/lines'
import { LINE_THREAD } from './head'
import { DASH, GREATER, OPEN, value } from './scan'

/** The process of the program at the start of the log, which has no number there. */
export const FIRST: u64 = 0

/** Threads that were seen and have not ended, each with its process. More are forgotten. */
const MAX_KNOWN: u32 = 1024
const KNOWN: usize = memory.data(16_384)
const PROCESS_AT: usize = 8
let known: u32 = 0
/** The index of the last line's thread; `MAX_KNOWN` if unknown. */
let last: u32 = MAX_KNOWN
/** The process assigned to new threads. */
let newest: u64 = FIRST

/** `fork`, `pthread_` and `_create`, in words. */
const FORK: u32 = 0x6b72_6f66
const PTHREAD_: u64 = 0x5f64_6165_7268_7470
const CREATE: u64 = 0x6574_6165_7263_5f64

/** Forgets all threads. */
export function clearProcesses(): void {
  known = 0
  last = MAX_KNOWN
  newest = FIRST
  isForking = false
}

/** The index of a thread, which is added if it is new; `MAX_KNOWN` if there is no room. */
function indexOf(thread: u64): u32 {
  for (let n: u32 = 0; n < known; n++) if (load<u64>(KNOWN + ((<usize>n) << 4)) == thread) return n
  if (known == MAX_KNOWN) return MAX_KNOWN
  const at = KNOWN + ((<usize>known) << 4)
  store<u64>(at, thread)
  store<u64>(at, newest, PROCESS_AT)
  return known++
}

/** The process of the line's thread. */
export function processOf(): u64 {
  const thread = load<u64>(LINE_THREAD)
  if (last >= known || load<u64>(KNOWN + ((<usize>last) << 4)) != thread) last = indexOf(thread)
  return last == MAX_KNOWN ? newest : load<u64>(KNOWN + ((<usize>last) << 4), PROCESS_AT)
}

/** A thread is the first of a process of its own. */
export function isProcess(thread: u64): void {
  const n = indexOf(thread)
  if (n != MAX_KNOWN) store<u64>(KNOWN + ((<usize>n) << 4), thread, PROCESS_AT)
  newest = thread
}

/** The line's thread created another one. */
export function makesThread(): void {
  newest = processOf()
}

/** The line's thread ended. */
export function threadEnded(): void {
  const thread = load<u64>(LINE_THREAD)
  for (let n: u32 = 0; n < known; n++) {
    const at = KNOWN + ((<usize>n) << 4)
    if (load<u64>(at) != thread) continue
    known--
    const end = KNOWN + ((<usize>known) << 4)
    store<u64>(at, load<u64>(end))
    store<u64>(at, load<u64>(end, PROCESS_AT), PROCESS_AT)
    last = MAX_KNOWN
    return
  }
}

/** Whether a name of four letters is `fork`. */
export function isFork(name: usize): bool {
  return load<u32>(name) == FORK
}

/** `SYS_`, `@SYS` and `clon`, in words: ltrace writes SYS_clone, and since 0.7.91 clone@SYS. */
const SYS_: u32 = 0x5f53_5953
const AT_SYS: u32 = 0x5359_5340
const CLON: u32 = 0x6e6f_6c63
/** The flag of clone with which the new thread is one of the same process. */
const CLONE_VM: u32 = 0x100
const FLAGS: usize = memory.data(8)
/** The last call of clone makes a process. */
export let isForking: bool = false

/** Whether a name is that of the system call clone. */
export function isClone(name: usize, length: usize): bool {
  if (load<u32>(name) == SYS_) {
    name += 4
    length -= 4
  }
  return length == 5 && load<u32>(name) == CLON && load<u8>(name + 4) == 0x65
}

/** The effect of a call of any other function. */
export const NOTHING: u32 = 0
export const FORKS: u32 = 1
const MAKES_THREAD: u32 = 2

/** Which of these functions the line calls: `fork@libc.so.6(`, `app->pthread_create(`. */
export function otherCall(p: usize, end: usize): u32 {
  const paren = findEither(p, OPEN)
  if (paren >= end) return NOTHING
  let name = p
  let after = p
  while (after < paren && load<u8>(after) != 0x40) {
    if (load<u8>(after) == GREATER && after > p && load<u8>(after - 1) == DASH) name = after + 1
    after++
  }
  const length = after - name
  if (length == 4 && isFork(name)) return FORKS
  if ((load<u32>(name) == SYS_ || load<u32>(after) == AT_SYS) && isClone(name, length)) {
    isForking = value(paren + 1, FLAGS) != 0 && (load<u32>(FLAGS) & CLONE_VM) == 0
    return isForking ? FORKS : MAKES_THREAD
  }
  return length == 14 && load<u64>(name) == PTHREAD_ && load<u64>(name + 6) == CREATE ? MAKES_THREAD : NOTHING
}
