/** Threads of processes, numbered in the order of appearance, and the coding of the thread of the next event. */

import { HAS_PROCESS, HAS_THREAD } from '../shared/event'
import { GROWING, GrowingTable } from '../shared/grow'
import { mix, newSecret } from '../shared/hash'
import { HashTable, TABLE, VALUE } from '../shared/hash-table'
import { bit, entryAt, freshen, isEncoding, mixed, pairBit } from './coder'
import { number } from './numbers'
import { BEST } from './level'
import { mixedNumber } from './best/numbers'
import { THREAD_NUMBER } from './best/selectors'
import { codeGuess, codeSame, trustIn } from './best/threads'
import { Thread } from './thread'

const BYTES: u32 = BEST ? 192 : 128
/** All threads are forgotten at this number, so that memory is bounded. */
const MOST: u32 = 65_536

const threads = changetype<GrowingTable>(memory.data(GROWING))
export let threadCount: u32 = 0
/** The thread of the event, and the thread of the last event by another thread. */
export let current: u32 = 0
let previous: u32 = 0
/** Whether the newest events were of the same thread as those before them, as bits. */
let switches: u32 = 0

/** Numbers of threads plus 1 by a hash of their ids, for the encoder. */
const index = changetype<HashTable>(memory.data(TABLE))
let secret: u64 = 1

/** The thread that followed a thread with this last symbol. */
const FOLLOWERS: usize = memory.data(16_384)
const FIRST: usize = memory.data(65_536)
const SECOND: usize = memory.data(16_384)
const ALONE: usize = memory.data(8)
const PROPERTIES: usize = memory.data(32)

export function resetThreads(): void {
  forget()
  secret = newSecret()
  memory.fill(FOLLOWERS, 0, 16_384)
  freshen(FIRST, 16_384)
  freshen(SECOND, 4096)
  freshen(ALONE, 2)
  freshen(PROPERTIES, 8)
}

function forget(): void {
  threadCount = 0
  current = 0
  previous = 0
  switches = 0
  index.forget()
}

// @ts-ignore: decorator
@inline
export function threadAt(n: u32): Thread {
  return changetype<Thread>(threads.at + <usize>n * BYTES)
}

/** Makes a thread the current one. */
export function setCurrent(n: u32): void {
  current = n
}

/** The number of a thread; the number of all threads if it is new. */
function find(fields: u32, id: u64, process: u64): u32 {
  if (index.log == 0) return threadCount
  const n = load<u32>(slotOf(fields, id, process), VALUE)
  return n == 0 ? threadCount : n - 1
}

/** The key of the slot that `slotOf` found. */
let slotKey: u64 = 0

/** The slot of a thread, or an empty one. Another thread may have the same hash: then the next key is tried. */
function slotOf(fields: u32, id: u64, process: u64): usize {
  slotKey = mix(mix(process, secret) ^ id, secret) ^ fields
  while (true) {
    const slot = index.slotOf(slotKey)
    const n = load<u32>(slot, VALUE)
    if (n == 0) return slot
    const thread = threadAt(n - 1)
    if (thread.id == id && thread.process == process && thread.fields == fields) return slot
    slotKey++
  }
}

/** Adds a thread to the index. @returns false if memory is exhausted */
function enter(n: u32): bool {
  if (!index.reserve(1)) return false
  const thread = threadAt(n)
  const slot = slotOf(thread.fields, thread.id, thread.process)
  if (load<u32>(slot, VALUE) == 0) store<u64>(index.put(slot, slotKey), <u64>n + 1, VALUE)
  return true
}

/**
 * Codes the thread of an event, and sets `current` to its number.
 * @param fields which of thread and process the event has: bits of masks
 * @returns false if memory is exhausted
 */
export function codeThread(fields: u32, id: u64, process: u64): bool {
  let n: u32 = 0
  if (isEncoding && threadCount != 0) {
    const last = threadAt(current)
    n = last.id == id && last.process == process && last.fields == fields ? current : find(fields, id, process)
  }
  if (threadCount == 0) return addThread(fields, id, process)
  if (threadCount == 1) {
    if (bit(n == current ? 1 : 0, ALONE) != 0) return true
    return addThread(fields, id, process)
  }
  const t = threadAt(current)
  const same = isSame(n == current ? 1 : 0, t)
  switches = (switches << 1) | (same ^ 1)
  if (same != 0) return true
  return codeSwitch(n, t, fields, id, process)
}

function isSame(y: u32, t: Thread): u32 {
  if (BEST) return codeSame(y, t, current, switches)
  return pairBit(
    y,
    entryAt(FIRST, current * 77 + 1, t.s1 | ((t.match != 0 ? t.isSwitch : 2) << 16)),
    SECOND + ((<usize>((trustIn(t) << 8) | (switches & 255))) << 2),
    0,
  )
}

function isGuess(y: u32, t: Thread, guess: u32): u32 {
  if (BEST) return codeGuess(y, t, current, guess, switches, 0)
  return pairBit(
    y,
    entryAt(FIRST, current, (guess << 8) + 5),
    SECOND + ((<usize>(((guess == previous ? 9 : 8) << 8) | (switches & 255))) << 2),
    1,
  )
}

function codeSwitch(n: u32, t: Thread, fields: u32, id: u64, process: u64): bool {
  const follower = FOLLOWERS + ((<usize>(mixed(current, t.s1) >> 20)) << 2)
  let guess = load<u32>(follower)
  if (guess >= threadCount || guess == current) guess = previous
  let isRight: u32 = 0
  if (guess != current) isRight = isGuess(n == guess ? 1 : 0, t, guess)
  if (isRight == 0 && guess != previous && previous != current) {
    const y: u32 = n == previous ? 1 : 0
    isRight = BEST ? codeGuess(y, t, current, previous, switches, 1) : bit(y, ALONE + 4)
    if (isRight != 0) guess = previous
  }
  if (isRight == 0) {
    const wanted = n == threadCount ? 0 : n + 1
    const rank = <u32>(
      (BEST ? mixedNumber(wanted, 11, current, previous, t.s1, THREAD_NUMBER) : number(wanted, 0, current & 31))
    )
    if (rank == 0) {
      store<u32>(follower, threadCount)
      return addThread(fields, id, process)
    }
    guess = rank > threadCount ? 0 : rank - 1
  }
  store<u32>(follower, guess)
  previous = current
  current = guess
  return true
}

/** Codes the ids of a new thread, and makes it the current one. */
function addThread(fields: u32, id: u64, process: u64): bool {
  let has = fields & HAS_THREAD
  if (bit(has != 0 ? 1 : 0, PROPERTIES) != 0) {
    has = HAS_THREAD
    id = number(id, 1, 0)
  } else id = 0
  if (bit(fields & HAS_PROCESS ? 1 : 0, PROPERTIES + 4) != 0) {
    has |= HAS_PROCESS
    process = number(process, 1, 1)
  } else process = 0
  if (threadCount == MOST) forget()
  return append(has, id, process) && (!isEncoding || enter(current))
}

/** Adds a thread that was kept. @returns false if memory is exhausted */
export function restoreThread(fields: u32, id: u64, process: u64): bool {
  return append(fields, id, process) && enter(current)
}

/** Adds a thread, and makes it the current one. */
function append(fields: u32, id: u64, process: u64): bool {
  // At the fast level, objects are shorter than their declared fields.
  if (!threads.extend(<u64>(BYTES * threadCount) + offsetof<Thread>())) return false
  const n = threadCount++
  const thread = threadAt(n)
  memory.fill(changetype<usize>(thread), 0, BYTES)
  thread.id = id
  thread.process = process
  thread.fields = fields
  previous = current
  current = n
  return true
}
