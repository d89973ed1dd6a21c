/** Events to HATF records. A realloc becomes all of its records. */

import * as Layout from '../../lib/kernel/layouts/hatf'
import { ADDRESS, HEAP, KIND, MASK, OLD_ADDRESS, OUTCOME, SIZE, THREAD, TIME } from '../shared/columns'
import * as Event from '../shared/event'
import * as Records from './records'
import { CARRIED } from './state'

/** The number of records, ... */
export let records: u32 = 0
/** ... and the number before the last event. */
export let recordsBefore: u32 = 0
/** The task of the wrapper for the last event. */
export let todo: u32 = Layout.NOTHING
/**
 * The fields of the last event that its record cannot represent, including attributes; and the fields that the record
 * has and the event does not.
 */
export let rest: u32 = 0
export let without: u32 = 0

const OPTIONAL_FIELDS: u32 = Event.HAS_THREAD | Event.HAS_HEAP | Event.HAS_TIME
const THREAD_FIELDS: u32 = Event.HAS_THREAD | Event.HAS_TIME | Event.HAS_ATTRIBUTES
const HEAP_FIELDS: u32 = THREAD_FIELDS | Event.HAS_HEAP
const FREE_FIELDS: u32 = HEAP_FIELDS | Event.HAS_ADDRESS
const ALLOC_FIELDS: u32 = FREE_FIELDS | Event.HAS_SIZE
/** By kind of event, the fields of its record. */
const FIELDS_OF = memory.data<u32>([
  ALLOC_FIELDS,
  FREE_FIELDS,
  ALLOC_FIELDS | Event.HAS_OLD_ADDRESS | Event.HAS_OUTCOME,
  ALLOC_FIELDS,
  0,
  HEAP_FIELDS,
  HEAP_FIELDS,
  THREAD_FIELDS,
  THREAD_FIELDS,
  Event.HAS_TEXT,
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
  todo = Layout.NOTHING
  for (; i < to && count < full; i++) {
    const kind = <u32>load<u8>(KIND + i)
    const set = load<u32>(MASK + ((<usize>i) << 2))
    const tag = <u32>load<u8>(TAGS + kind)
    if (tag == Layout.TAG_COMMENT) {
      if (kind != Event.KIND_COMMENT && !keep) continue
      recordsBefore = count
      todo = Layout.COMMENT_FOR
      i++
      break
    }
    const wide = (<usize>i) << 3
    const own = load<u32>(FIELDS_OF + ((<usize>kind) << 2))
    const given = set & own
    const optional = given & OPTIONAL_FIELDS
    carried |= optional
    const at = Records.recordAt(count)
    const address: u64 = select<u64>(load<u64>(ADDRESS + wide), 0, (given & Event.HAS_ADDRESS) != 0)
    const size: u64 = select<u64>(load<u64>(SIZE + wide), 0, (given & Event.HAS_SIZE) != 0)
    const before = count
    if (kind == Event.KIND_REALLOC) {
      const old: u64 = (given & Event.HAS_OLD_ADDRESS) != 0 ? load<u64>(OLD_ADDRESS + wide) : 0
      const outcome: u32 =
        (given & Event.HAS_OUTCOME) != 0 ? load<u8>(OUTCOME + i) : outcomeOf(given, old, address, size)
      if (outcome == Event.OUTCOME_MOVED || outcome == Event.OUTCOME_ALLOCATED)
        add(count++, i, Layout.TAG_ALLOC, size, address, 0, optional, dataEnd)
      if (outcome == Event.OUTCOME_MOVED || outcome == Event.OUTCOME_FREED)
        add(count++, i, Layout.TAG_FREE, 0, old, 0, optional, dataEnd)
      add(count++, i, Layout.TAG_REALLOC_NONE + outcome, size, address, old, optional, dataEnd)
    } else {
      store<u64>(at, size, Records.R_SIZE)
      store<u64>(at, address, Records.R_ADDRESS)
      store<u64>(at, 0, Records.R_OLD_ADDRESS)
      store<u32>(at, dataEnd, Records.R_DATA_END)
      store<u8>(at, <u8>tag, Records.R_TAG)
      addOptional(at, i, optional)
      count++
    }
    const more = set & (~own | Event.HAS_ATTRIBUTES)
    const less = own & ~set & ~Event.HAS_ATTRIBUTES & (~OPTIONAL_FIELDS | carried)
    // Otherwise losses are only counted, and a realloc without an outcome is judged by its addresses.
    if (
      (keep ? more | less : (more & Event.HAS_ATTRIBUTES) | (less & ~Event.HAS_OUTCOME)) != 0 ||
      kind == Event.KIND_EXISTING
    ) {
      rest = more
      without = less
      recordsBefore = before
      todo = Layout.ATTRIBUTES_OF
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
  const at = Records.recordAt(count)
  memory.fill(at, 0, Records.RECORD_BYTES)
  store<u32>(at, dataEnd, Records.R_DATA_END)
  store<u8>(at, Layout.TAG_COMMENT, Records.R_TAG)
  return count + 1
}

// @ts-ignore: decorator
@inline
function addOptional(at: usize, i: u32, optional: u32): void {
  const wide = (<usize>i) << 3
  if (optional == 0) {
    v128.store(at, i64x2.splat(0), Records.R_TIME)
    store<u64>(at, 0, Records.R_HEAP)
    store<u8>(at, 0, Records.R_GIVEN)
    return
  }
  store<u64>(at, (optional & Event.HAS_TIME) != 0 ? load<u64>(TIME + wide) : 0, Records.R_TIME)
  store<u64>(at, (optional & Event.HAS_THREAD) != 0 ? load<u64>(THREAD + wide) : 0, Records.R_THREAD)
  store<u64>(at, (optional & Event.HAS_HEAP) != 0 ? load<u64>(HEAP + wide) : 0, Records.R_HEAP)
  const threadOrHeap =
    ((optional & Event.HAS_THREAD) != 0 ? Records.GIVEN_THREAD : 0) |
    ((optional & Event.HAS_HEAP) != 0 ? Records.GIVEN_HEAP : 0)
  const given = threadOrHeap | ((optional & Event.HAS_TIME) != 0 ? Records.GIVEN_TIME : 0)
  store<u8>(at, <u8>given, Records.R_GIVEN)
}

function add(r: u32, i: u32, tag: u32, size: u64, address: u64, old: u64, optional: u32, dataEnd: u32): void {
  const at = Records.recordAt(r)
  store<u64>(at, size, Records.R_SIZE)
  store<u64>(at, address, Records.R_ADDRESS)
  store<u64>(at, old, Records.R_OLD_ADDRESS)
  store<u32>(at, dataEnd, Records.R_DATA_END)
  store<u8>(at, <u8>tag, Records.R_TAG)
  addOptional(at, i, optional)
}

/** The outcome of a realloc without one, as decided by `outcomeOf` in lib/blocks/realloc.ts. */
function outcomeOf(given: u32, old: u64, address: u64, size: u64): u32 {
  if ((given & Event.HAS_OLD_ADDRESS) == 0) return Event.OUTCOME_NONE
  if (address == 0)
    return (given & Event.HAS_SIZE) != 0 && size == 0 && old != 0 ? Event.OUTCOME_FREED : Event.OUTCOME_NONE
  return old == 0 ? Event.OUTCOME_ALLOCATED : old == address ? Event.OUTCOME_NONE : Event.OUTCOME_MOVED
}
