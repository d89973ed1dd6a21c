/**
 * An alloc or a free inside a realloc has a record of its own before the realloc's record. Folding removes these
 * components, so that nothing counts twice. The events are the first ones in memory, up to the last that was read.
 */

import {
  ADDRESS,
  ALIGNMENT,
  API,
  ATTRIBUTES,
  CALL_SITE,
  CODE,
  CPU,
  ELEMENT_SIZE,
  ELEMENTS,
  END_TIME,
  FIELDS,
  FILE,
  FUNCTION,
  GFP_FLAGS,
  HEAP,
  INDEX,
  KIND,
  LINE,
  MASK,
  MODULE,
  NODE,
  OLD_ADDRESS,
  OUTCOME,
  PRESENT,
  PROCESS,
  SEQUENCE,
  SIZE,
  STACK,
  TEXT,
  THREAD,
  TIME,
  TYPE,
  USABLE,
} from '../shared/columns'
import {
  HAS_ADDRESS,
  HAS_API,
  HAS_ATTRIBUTES,
  HAS_CODE,
  HAS_CPU,
  HAS_FIELDS,
  HAS_FILE,
  HAS_FUNCTION,
  HAS_GFP_FLAGS,
  HAS_LINE,
  HAS_MODULE,
  HAS_NODE,
  HAS_OLD_ADDRESS,
  HAS_OUTCOME,
  HAS_SEQUENCE,
  HAS_SIZE,
  HAS_STACK,
  HAS_TEXT,
  HAS_THREAD,
  HAS_TYPE,
  KIND_ALLOC,
  KIND_COMMENT,
  KIND_FREE,
  OUTCOME_ALLOCATED,
  OUTCOME_FREED,
  OUTCOME_NONE,
} from '../shared/event'

/** The maximum number of events before a realloc that can be its components. */
const FOLD_WINDOW: u32 = 64
const NO_ROW: u32 = 0xffff_ffff

/**
 * Removes the components of the realloc that is the last of `count` events, if all of them are present.
 * @returns the number of events that are left
 */
export function foldRealloc(count: u32, fields: u32): u32 {
  const row = count - 1
  const outcome = load<u8>(OUTCOME + row)
  if (outcome == OUTCOME_NONE) return count
  const thread = thread64(row)
  let allocWanted = outcome != OUTCOME_FREED
  let freeWanted = outcome != OUTCOME_ALLOCATED
  let allocRow = NO_ROW
  let freeRow = NO_ROW
  for (let r = row; allocWanted || freeWanted;) {
    if (r == 0 || row - --r > FOLD_WINDOW) return count
    const kind = load<u8>(KIND + r)
    if (kind == KIND_COMMENT || thread64(r) != thread) continue
    if (kind == KIND_ALLOC) {
      if (!allocWanted || address64(r) != address64(row)) return count
      allocWanted = false
      allocRow = r
    } else {
      if (kind != KIND_FREE || !freeWanted || address64(r) != load<u64>(OLD_ADDRESS + ((<usize>row) << 3))) return count
      freeWanted = false
      freeRow = r
    }
  }
  takeOverAttributes(allocRow, row)
  takeOverAttributes(freeRow, row)
  const first = min(allocRow, freeRow)
  let to = first
  for (let r = first + 1; r <= row; r++) if (r != allocRow && r != freeRow) moveRow(r, to++, fields)
  return to
}

/** The first of `count` events that may still prove to be a component of a later realloc; `count` if there is none. */
export function firstHeld(count: u32): u32 {
  let first = count
  for (let r = count; r > 0 && count - r < FOLD_WINDOW;) {
    const kind = load<u8>(KIND + --r)
    if (kind > KIND_FREE) continue
    // This event may be part of the realloc if its thread has at most one later event, which is part of it, too.
    const thread = thread64(r)
    let later: u32 = 0
    let n: u32 = 0
    for (let s = r + 1; s < count && n < 2; s++) {
      if (load<u8>(KIND + s) == KIND_COMMENT || thread64(s) != thread) continue
      later = s
      n++
    }
    if (n == 0 || (n == 1 && load<u8>(KIND + later) <= KIND_FREE && load<u8>(KIND + later) != kind)) first = r
  }
  return first
}

// @ts-ignore: decorator
@inline
function thread64(r: u32): u64 {
  return load<u64>(THREAD + ((<usize>r) << 3))
}

// @ts-ignore: decorator
@inline
function address64(r: u32): u64 {
  return load<u64>(ADDRESS + ((<usize>r) << 3))
}

/** Gives a realloc without attributes the attributes of a component. */
function takeOverAttributes(component: u32, row: u32): void {
  if (component == NO_ROW) return
  const set = load<u32>(MASK + ((<usize>row) << 2))
  if ((set & HAS_ATTRIBUTES) != 0 || (load<u32>(MASK + ((<usize>component) << 2)) & HAS_ATTRIBUTES) == 0) return
  store<u32>(MASK + ((<usize>row) << 2), set | HAS_ATTRIBUTES)
  store<u32>(ATTRIBUTES + ((<usize>row) << 2), load<u32>(ATTRIBUTES + ((<usize>component) << 2)))
}

/** The fields copied for every row. */
const USUAL: u32 = HAS_SIZE | HAS_ADDRESS | HAS_OLD_ADDRESS | HAS_OUTCOME | HAS_THREAD
const BYTE_FIELDS: u32 = HAS_API | HAS_OUTCOME
const WORD_FIELDS: u32 =
  HAS_CPU |
  HAS_NODE |
  HAS_SEQUENCE |
  HAS_GFP_FLAGS |
  HAS_FUNCTION |
  HAS_FILE |
  HAS_LINE |
  HAS_TYPE |
  HAS_STACK |
  HAS_TEXT |
  HAS_ATTRIBUTES |
  HAS_CODE |
  HAS_FIELDS |
  HAS_MODULE

/** The columns by the bit of their field. */
const COLUMNS = memory.data<usize>([
  API,
  PROCESS,
  THREAD,
  CPU,
  NODE,
  SEQUENCE,
  TIME,
  END_TIME,
  HEAP,
  INDEX,
  ADDRESS,
  OLD_ADDRESS,
  SIZE,
  ELEMENTS,
  ELEMENT_SIZE,
  ALIGNMENT,
  USABLE,
  PRESENT,
  GFP_FLAGS,
  CALL_SITE,
  OUTCOME,
  FUNCTION,
  FILE,
  LINE,
  TYPE,
  STACK,
  TEXT,
  ATTRIBUTES,
  CODE,
  FIELDS,
  MODULE,
])

/** Copies one event over another. All events have only fields of the set. */
function moveRow(from: u32, to: u32, fields: u32): void {
  store<u8>(KIND + to, load<u8>(KIND + from))
  store<u8>(OUTCOME + to, load<u8>(OUTCOME + from))
  move4(MASK, from, to)
  move8(SIZE, from, to)
  move8(ADDRESS, from, to)
  move8(OLD_ADDRESS, from, to)
  move8(THREAD, from, to)
  for (let rest = fields & ~USUAL; rest != 0; rest &= rest - 1) {
    const f = ctz(rest)
    const column = load<usize>(COLUMNS + ((<usize>f) << 2))
    const bit: u32 = 1 << f
    if ((bit & BYTE_FIELDS) != 0) store<u8>(column + to, load<u8>(column + from))
    else if ((bit & WORD_FIELDS) != 0) move4(column, from, to)
    else move8(column, from, to)
  }
}

// @ts-ignore: decorator
@inline
function move4(column: usize, from: u32, to: u32): void {
  store<u32>(column + ((<usize>to) << 2), load<u32>(column + ((<usize>from) << 2)))
}

// @ts-ignore: decorator
@inline
function move8(column: usize, from: u32, to: u32): void {
  store<u64>(column + ((<usize>to) << 3), load<u64>(column + ((<usize>from) << 3)))
}
