/** Replays the events of a batch through a simulated allocator and compares the addresses. */
import { CALLOC, HIT, MALLOC, MEMALIGN, MISS, NO_BLOCK } from '../../lib/kernel/layouts/allocators'
import { ADDRESS, ALIGNMENT, API, ELEMENTS, KIND, MASK, OLD_ADDRESS, OUTCOME, SIZE, THREAD } from '../shared/columns'
import * as Event from '../shared/event'
import { clearIdentities, numberOf } from './identities'
import { simFix, simFree, simMake, simRealloc, simThreadEnd } from './simulator'

/** Per row: the result of the prediction, and the predicted address, 0 if none. */
export const RESULTS: usize = memory.data(4288)
export const PREDICTED: usize = memory.data(32960)

/** The number of blocks that began, and of those at the predicted address. */
export let blocks: f64 = 0
export let hits: f64 = 0

/** Forgets the threads and the counts. @returns false if memory is exhausted */
export function clearReplay(): bool {
  blocks = hits = 0
  return clearIdentities()
}

/** Replays the rows from 0 on. */
export function replay(rows: u32): void {
  for (let row: u32 = 0; row < min(rows, Event.BATCH_EVENTS); row++) {
    const kind = load<u8>(KIND + row)
    store<u8>(RESULTS + row, NO_BLOCK)
    store<u64>(PREDICTED + ((<usize>row) << 3), 0)
    const mask = load<u32>(MASK + ((<usize>row) << 2))
    const thread = numberOf((mask & Event.HAS_THREAD) != 0 ? load<u64>(THREAD + ((<usize>row) << 3)) : 0)
    if (kind == Event.KIND_FREE) {
      if ((mask & Event.HAS_ADDRESS) != 0) simFree(thread, load<u64>(ADDRESS + ((<usize>row) << 3)))
    } else if (kind == Event.KIND_ALLOC) {
      if ((mask & (Event.HAS_ADDRESS | Event.HAS_SIZE)) == (Event.HAS_ADDRESS | Event.HAS_SIZE))
        replayAlloc(row, mask, thread)
    } else if (kind == Event.KIND_REALLOC) {
      replayRealloc(row, mask, thread)
    } else if (kind == Event.KIND_THREAD_DESTROY) {
      simThreadEnd(thread)
    }
  }
}

function replayAlloc(row: usize, mask: u32, thread: i32): void {
  const size = load<u64>(SIZE + (row << 3))
  const actual = load<u64>(ADDRESS + (row << 3))
  // A failed call changes nothing.
  if (actual == 0) return
  const api = (mask & Event.HAS_API) != 0 ? load<u8>(API + row) : 0
  let called = MALLOC
  let more: u64 = 0
  if (api == Event.API_CALLOC) {
    called = CALLOC
    if ((mask & Event.HAS_COUNT) != 0) more = load<u64>(ELEMENTS + (row << 3))
  } else if (api == Event.API_MEMALIGN && (mask & Event.HAS_ALIGNMENT) != 0) {
    called = MEMALIGN
    more = load<u64>(ALIGNMENT + (row << 3))
  }
  compare(row, simMake(called, thread, more, 0, size), actual)
}

function replayRealloc(row: usize, mask: u32, thread: i32): void {
  const outcome = (mask & Event.HAS_OUTCOME) != 0 ? load<u8>(OUTCOME + row) : 0xff
  const size = (mask & Event.HAS_SIZE) != 0 ? load<u64>(SIZE + (row << 3)) : 0
  let actual = (mask & Event.HAS_ADDRESS) != 0 ? load<u64>(ADDRESS + (row << 3)) : 0
  const hasOld = (mask & Event.HAS_OLD_ADDRESS) != 0 && outcome != Event.OUTCOME_ALLOCATED
  let old = hasOld ? load<u64>(OLD_ADDRESS + (row << 3)) : 0
  if (outcome == Event.OUTCOME_NONE) {
    // One address suffices for a block that stayed in place.
    if ((mask & Event.HAS_OLD_ADDRESS) == 0) old = actual
    else if ((mask & Event.HAS_ADDRESS) == 0) actual = old
  }
  if (outcome == Event.OUTCOME_FREED || size == 0) simFree(thread, old)
  if (outcome == Event.OUTCOME_FREED || actual == 0) return
  // Some allocators return blocks of zero bytes.
  const predicted = size == 0 ? simMake(MALLOC, thread, 0, 0, 0) : simRealloc(thread, old, size)
  compare(row, predicted, actual)
}

function compare(row: usize, predicted: u64, actual: u64): void {
  store<u64>(PREDICTED + (row << 3), predicted)
  blocks++
  if (predicted == actual) {
    hits++
    store<u8>(RESULTS + row, HIT)
  } else {
    simFix(predicted, actual)
    store<u8>(RESULTS + row, MISS)
  }
}
