/** Events to HATF records. A realloc becomes all of its records. */

import {
  ATTRIBUTES_OF,
  COMMENT_FOR,
  NOTHING,
  TAG_ALLOC,
  TAG_COMMENT,
  TAG_FREE,
  TAG_REALLOC_NONE,
} from '../../lib/kernel/layouts/hatf'
import { ADDRESS, HEAP, KIND, MASK, OLD_ADDRESS, OUTCOME, SIZE, THREAD, TIME } from '../shared/columns'
import {
  HAS_ADDRESS,
  HAS_ATTRIBUTES,
  HAS_HEAP,
  HAS_OLD_ADDRESS,
  HAS_OUTCOME,
  HAS_SIZE,
  HAS_TEXT,
  HAS_THREAD,
  HAS_TIME,
  KIND_COMMENT,
  KIND_EXISTING,
  KIND_REALLOC,
  OUTCOME_ALLOCATED,
  OUTCOME_FREED,
  OUTCOME_MOVED,
  OUTCOME_NONE,
} from '../shared/event'
import {
  GIVEN_HEAP,
  GIVEN_THREAD,
  GIVEN_TIME,
  R_ADDRESS,
  R_DATA_END,
  R_GIVEN,
  R_HEAP,
  R_OLD_ADDRESS,
  R_SIZE,
  R_TAG,
  R_THREAD,
  R_TIME,
  RECORD_BYTES,
  recordAt,
} from './records'
import { CARRIED } from './state'

/** The number of records, ... */
export let records: u32 = 0
/** ... and the number before the last event. */
export let recordsBefore: u32 = 0
/** The task of the wrapper for the last event. */
export let todo: u32 = NOTHING
/**
 * The fields of the last event that its record cannot represent, including attributes; and the fields that the record
 * has and the event does not.
 */
export let rest: u32 = 0
export let without: u32 = 0

const OPTIONAL_FIELDS: u32 = HAS_THREAD | HAS_HEAP | HAS_TIME
const THREAD_FIELDS: u32 = HAS_THREAD | HAS_TIME | HAS_ATTRIBUTES
const HEAP_FIELDS: u32 = THREAD_FIELDS | HAS_HEAP
const FREE_FIELDS: u32 = HEAP_FIELDS | HAS_ADDRESS
const ALLOC_FIELDS: u32 = FREE_FIELDS | HAS_SIZE
/** By kind of event, the fields of its record. */
const FIELDS_OF = memory.data<u32>([
  ALLOC_FIELDS,
  FREE_FIELDS,
  ALLOC_FIELDS | HAS_OLD_ADDRESS | HAS_OUTCOME,
  ALLOC_FIELDS,
  0,
  HEAP_FIELDS,
  HEAP_FIELDS,
  THREAD_FIELDS,
  THREAD_FIELDS,
  HAS_TEXT,
  0,
  0,
  0,
])
/**
 * By kind of event, its tag; also the tag of a comment for kinds without a record. The tag of a realloc depends on its
 * outcome.
 */
const TAGS = memory.data<u8>([0, 1, 2, 0, 10, 6, 7, 8, 9, 10, 10, 10, 10])

/**
 * Adds the records of the events from `i` to `to`, until there are `full` records or the wrapper has something to do.
 * @param count the number of records so far
 * @param dataEnd the number of bytes of attributes and comments so far
 * @param keep whether to keep what the record cannot represent in attributes and comments
 * @returns the first event without records; the wrapper may have something to do for the event before it
 */
export function toRecords(i: u32, to: u32, count: u32, full: u32, dataEnd: u32, keep: bool): u32 {
  let carried = load<u32>(CARRIED)
  todo = NOTHING
  for (; i < to && count < full; i++) {
    const kind = <u32>load<u8>(KIND + i)
    const set = load<u32>(MASK + ((<usize>i) << 2))
    const tag = <u32>load<u8>(TAGS + kind)
    if (tag == TAG_COMMENT) {
      if (kind != KIND_COMMENT && !keep) continue
      recordsBefore = count
      todo = COMMENT_FOR
      i++
      break
    }
    const wide = (<usize>i) << 3
    const own = load<u32>(FIELDS_OF + ((<usize>kind) << 2))
    const given = set & own
    const optional = given & OPTIONAL_FIELDS
    carried |= optional
    const at = recordAt(count)
    const address: u64 = select<u64>(load<u64>(ADDRESS + wide), 0, (given & HAS_ADDRESS) != 0)
    const size: u64 = select<u64>(load<u64>(SIZE + wide), 0, (given & HAS_SIZE) != 0)
    const before = count
    if (kind == KIND_REALLOC) {
      const old: u64 = (given & HAS_OLD_ADDRESS) != 0 ? load<u64>(OLD_ADDRESS + wide) : 0
      const outcome: u32 = (given & HAS_OUTCOME) != 0 ? load<u8>(OUTCOME + i) : outcomeOf(given, old, address, size)
      if (outcome == OUTCOME_MOVED || outcome == OUTCOME_ALLOCATED)
        add(count++, i, TAG_ALLOC, size, address, 0, optional, dataEnd)
      if (outcome == OUTCOME_MOVED || outcome == OUTCOME_FREED) add(count++, i, TAG_FREE, 0, old, 0, optional, dataEnd)
      add(count++, i, TAG_REALLOC_NONE + outcome, size, address, old, optional, dataEnd)
    } else {
      store<u64>(at, size, R_SIZE)
      store<u64>(at, address, R_ADDRESS)
      store<u64>(at, 0, R_OLD_ADDRESS)
      store<u32>(at, dataEnd, R_DATA_END)
      store<u8>(at, <u8>tag, R_TAG)
      addOptional(at, i, optional)
      count++
    }
    const more = set & (~own | HAS_ATTRIBUTES)
    const less = own & ~set & ~HAS_ATTRIBUTES & (~OPTIONAL_FIELDS | carried)
    // Otherwise losses are only counted, and a realloc without an outcome is judged by its addresses.
    if ((keep ? more | less : (more & HAS_ATTRIBUTES) | (less & ~HAS_OUTCOME)) != 0 || kind == KIND_EXISTING) {
      rest = more
      without = less
      recordsBefore = before
      todo = ATTRIBUTES_OF
      i++
      break
    }
  }
  store<u32>(CARRIED, carried)
  records = count
  return i
}

/** Adds a comment. @returns the number of records */
export function addComment(count: u32, dataEnd: u32): u32 {
  const at = recordAt(count)
  memory.fill(at, 0, RECORD_BYTES)
  store<u32>(at, dataEnd, R_DATA_END)
  store<u8>(at, TAG_COMMENT, R_TAG)
  return count + 1
}

// @ts-ignore: decorator
@inline
function addOptional(at: usize, i: u32, optional: u32): void {
  const wide = (<usize>i) << 3
  if (optional == 0) {
    v128.store(at, i64x2.splat(0), R_TIME)
    store<u64>(at, 0, R_HEAP)
    store<u8>(at, 0, R_GIVEN)
    return
  }
  store<u64>(at, (optional & HAS_TIME) != 0 ? load<u64>(TIME + wide) : 0, R_TIME)
  store<u64>(at, (optional & HAS_THREAD) != 0 ? load<u64>(THREAD + wide) : 0, R_THREAD)
  store<u64>(at, (optional & HAS_HEAP) != 0 ? load<u64>(HEAP + wide) : 0, R_HEAP)
  const threadOrHeap = ((optional & HAS_THREAD) != 0 ? GIVEN_THREAD : 0) | ((optional & HAS_HEAP) != 0 ? GIVEN_HEAP : 0)
  const given = threadOrHeap | ((optional & HAS_TIME) != 0 ? GIVEN_TIME : 0)
  store<u8>(at, <u8>given, R_GIVEN)
}

function add(r: u32, i: u32, tag: u32, size: u64, address: u64, old: u64, optional: u32, dataEnd: u32): void {
  const at = recordAt(r)
  store<u64>(at, size, R_SIZE)
  store<u64>(at, address, R_ADDRESS)
  store<u64>(at, old, R_OLD_ADDRESS)
  store<u32>(at, dataEnd, R_DATA_END)
  store<u8>(at, <u8>tag, R_TAG)
  addOptional(at, i, optional)
}

/** The outcome of a realloc without one, as decided by `outcomeOf` in lib/blocks/realloc.ts. */
function outcomeOf(given: u32, old: u64, address: u64, size: u64): u32 {
  if ((given & HAS_OLD_ADDRESS) == 0) return OUTCOME_NONE
  if (address == 0) return (given & HAS_SIZE) != 0 && size == 0 && old != 0 ? OUTCOME_FREED : OUTCOME_NONE
  return old == 0 ? OUTCOME_ALLOCATED : old == address ? OUTCOME_NONE : OUTCOME_MOVED
}
