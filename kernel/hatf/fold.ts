/**
 * An alloc or a free inside a realloc has a record of its own before the realloc's record. Folding removes these
 * components, so that nothing counts twice. The events are the first ones in memory, up to the last that was read.
 */

import * as Column from '../shared/columns'
import * as Event from '../shared/event'
import { setValue, valueOf } from '../shared/fields'

/** The maximum number of events before a realloc that can be its components. */
const FOLD_WINDOW: u32 = 64
const NO_ROW: u32 = 0xffff_ffff

/**
 * Removes the components of the realloc that is the last of `count` events, if all of them are present.
 * @returns the number of events that are left
 */
export function foldRealloc(count: u32, fields: u32): u32 {
  const row = count - 1
  const outcome = load<u8>(Column.OUTCOME + row)
  if (outcome == Event.OUTCOME_NONE) return count
  const thread = thread64(row)
  let allocWanted = outcome != Event.OUTCOME_FREED
  let freeWanted = outcome != Event.OUTCOME_ALLOCATED
  let allocRow = NO_ROW
  let freeRow = NO_ROW
  for (let r = row; allocWanted || freeWanted;) {
    if (r == 0 || row - --r > FOLD_WINDOW) return count
    const kind = load<u8>(Column.KIND + r)
    if (kind == Event.KIND_COMMENT || thread64(r) != thread) continue
    if (kind == Event.KIND_ALLOC) {
      if (!allocWanted || address64(r) != address64(row)) return count
      allocWanted = false
      allocRow = r
    } else {
      if (kind != Event.KIND_FREE || !freeWanted || address64(r) != load<u64>(Column.OLD_ADDRESS + ((<usize>row) << 3)))
        return count
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
    const kind = load<u8>(Column.KIND + --r)
    if (kind > Event.KIND_FREE) continue
    // This event may be part of the realloc if its thread has at most one later event, which is part of it, too.
    const thread = thread64(r)
    let later: u32 = 0
    let n: u32 = 0
    for (let s = r + 1; s < count && n < 2; s++) {
      if (load<u8>(Column.KIND + s) == Event.KIND_COMMENT || thread64(s) != thread) continue
      later = s
      n++
    }
    if (n == 0 || (n == 1 && load<u8>(Column.KIND + later) <= Event.KIND_FREE && load<u8>(Column.KIND + later) != kind))
      first = r
  }
  return first
}

function thread64(r: u32): u64 {
  return load<u64>(Column.THREAD + ((<usize>r) << 3))
}

function address64(r: u32): u64 {
  return load<u64>(Column.ADDRESS + ((<usize>r) << 3))
}

/** Gives a realloc without attributes the attributes of a component. */
function takeOverAttributes(component: u32, row: u32): void {
  if (component == NO_ROW) return
  const set = load<u32>(Column.MASK + ((<usize>row) << 2))
  if (
    (set & Event.HAS_ATTRIBUTES) != 0 ||
    (load<u32>(Column.MASK + ((<usize>component) << 2)) & Event.HAS_ATTRIBUTES) == 0
  )
    return
  store<u32>(Column.MASK + ((<usize>row) << 2), set | Event.HAS_ATTRIBUTES)
  store<u32>(Column.ATTRIBUTES + ((<usize>row) << 2), load<u32>(Column.ATTRIBUTES + ((<usize>component) << 2)))
}

/** The fields copied for every row. */
const USUAL: u32 = Event.HAS_SIZE | Event.HAS_ADDRESS | Event.HAS_OLD_ADDRESS | Event.HAS_OUTCOME | Event.HAS_THREAD

/** Copies one event over another. All events have only fields of the set. */
function moveRow(from: u32, to: u32, fields: u32): void {
  store<u8>(Column.KIND + to, load<u8>(Column.KIND + from))
  store<u8>(Column.OUTCOME + to, load<u8>(Column.OUTCOME + from))
  store<u32>(Column.MASK + ((<usize>to) << 2), load<u32>(Column.MASK + ((<usize>from) << 2)))
  move8(Column.SIZE, from, to)
  move8(Column.ADDRESS, from, to)
  move8(Column.OLD_ADDRESS, from, to)
  move8(Column.THREAD, from, to)
  for (let rest = fields & ~USUAL; rest != 0; rest &= rest - 1) setValue(ctz(rest), to, valueOf(ctz(rest), from))
}

function move8(column: usize, from: u32, to: u32): void {
  store<u64>(column + ((<usize>to) << 3), load<u64>(column + ((<usize>from) << 3)))
}
