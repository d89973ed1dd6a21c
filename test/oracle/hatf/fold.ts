import { HI, LO } from '../../../lib/bytes/u64.js'
import { U64Column, type EventBatch } from '../../../lib/event/batch.js'
import { FIELDS, FieldBit, Kind, Outcome } from '../../../lib/event/fields.js'

/**
 * An alloc or a free that happened inside a realloc has a record of its own, before the realloc's. Folding takes those
 * out, so that nothing counts twice. All functions here work on the last events of a batch that is still being filled.
 */

/** How many events before a realloc can be its components. */
export const FOLD_WINDOW = 64

const ALLOC = Kind.alloc
const FREE = Kind.free
const COMMENT = Kind.comment
const HAS_ATTRIBUTES = FieldBit.attributes
const NO_ROW = -1

/** Takes the components of the realloc in row `batch.count - 1` out of the batch, if all of them are there. */
export function foldRealloc(batch: EventBatch): void {
  const row = batch.count - 1
  const outcome = batch.outcome[row]
  if (outcome === Outcome.none) return
  let wanted = (outcome === Outcome.freed ? 0 : 1 << ALLOC) | (outcome === Outcome.allocated ? 0 : 1 << FREE)
  let allocRow = NO_ROW
  let freeRow = NO_ROW
  for (let r = row - 1; wanted !== 0; r--) {
    if (r < 0 || r < row - FOLD_WINDOW) return
    const kind = batch.kind[r]
    if (kind === COMMENT || !isSameThread(batch, r, row)) continue
    if (kind > FREE || (wanted & (1 << kind)) === 0) return
    if (!isSame(batch.address, r, kind === ALLOC ? batch.address : batch.oldAddress, row)) return
    wanted &= ~(1 << kind)
    if (kind === ALLOC) allocRow = r
    else freeRow = r
  }
  takeOverAttributes(batch, allocRow, row)
  takeOverAttributes(batch, freeRow, row)
  removeRow(batch, Math.max(allocRow, freeRow))
  if (allocRow !== NO_ROW && freeRow !== NO_ROW) removeRow(batch, Math.min(allocRow, freeRow))
}

/** The first row that may still turn out to be a component of a realloc that is to come; `count` if there is none. */
export function firstHeldRow(batch: EventBatch): number {
  const { count, kind: kinds } = batch
  let first = count
  for (let r = count - 1; r >= 0 && r >= count - FOLD_WINDOW; r--) {
    const kind = kinds[r]
    if (kind > FREE) continue
    // It may, if its thread did nothing afterwards, or one thing that goes with it.
    let later = NO_ROW
    let laterCount = 0
    for (let s = r + 1; s < count && laterCount < 2; s++) {
      if (kinds[s] === COMMENT || !isSameThread(batch, s, r)) continue
      later = s
      laterCount++
    }
    if (laterCount === 0 || (laterCount === 1 && kinds[later] <= FREE && kinds[later] !== kind)) first = r
  }
  return first
}

/** Copies the rows from `start` on into an empty batch, with their strings. */
export function carryRows(from: EventBatch, start: number, to: EventBatch): void {
  to.addColumns(from.columns)
  for (let r = start; r < from.count; r++) {
    const row = to.count++
    const mask = from.mask[r]
    to.kind[row] = from.kind[r]
    to.mask[row] = mask
    for (let f = 0; f < FIELDS.length; f++) {
      if ((from.columns >>> f) & 1) copyValue(from, r, to, row, f, ((mask >>> f) & 1) === 1)
    }
  }
}

function copyValue(from: EventBatch, r: number, to: EventBatch, row: number, f: number, present: boolean): void {
  const { name, type } = FIELDS[f] as (typeof FIELDS)[number]
  const copy = (id: number) => to.strings.intern(from.strings.view(id))
  switch (type) {
    case 'u64':
    case 'address': {
      // Also where it is absent: threads are compared as they were stored.
      const source = from.u64(name).words
      const target = to.u64(name).words
      target[2 * row] = source[2 * r]
      target[2 * row + 1] = source[2 * r + 1]
      break
    }
    case 'string':
    case 'bytes':
    case 'json':
      if (present) to[name][row] = copy(from[name][r])
      break
    case 'list':
      if (present) to.stack[row] = to.strings.addList(from.strings.list(from.stack[r]).map(copy))
      break
    default:
      to[name][row] = from[name][r]
  }
}

function isSameThread(batch: EventBatch, r: number, s: number): boolean {
  return batch.thread.words.length === 0 || isSame(batch.thread, r, batch.thread, s)
}

function isSame(a: U64Column, r: number, b: U64Column, s: number): boolean {
  return a.words[2 * r + LO] === b.words[2 * s + LO] && a.words[2 * r + HI] === b.words[2 * s + HI]
}

/** A realloc without attributes gets those of a component. */
function takeOverAttributes(batch: EventBatch, component: number, row: number): void {
  const { mask, attributes } = batch
  const has = (r: number) => (mask[r] & HAS_ATTRIBUTES) !== 0
  if (component === NO_ROW || has(row) || !has(component)) return
  mask[row] = mask[row] | HAS_ATTRIBUTES
  attributes[row] = attributes[component]
}

function removeRow(batch: EventBatch, r: number): void {
  const { count } = batch
  batch.kind.copyWithin(r, r + 1, count)
  batch.mask.copyWithin(r, r + 1, count)
  for (let f = 0; f < FIELDS.length; f++) {
    if (((batch.columns >>> f) & 1) === 0) continue
    const { name } = FIELDS[f] as (typeof FIELDS)[number]
    const column = name === 'count' ? batch.elements : batch[name]
    if (column instanceof U64Column) column.words.copyWithin(2 * r, 2 * r + 2, 2 * count)
    else column.copyWithin(r, r + 1, count)
  }
  // Records that store no thread must find none in their row.
  batch.thread.words.fill(0, 2 * count - 2, 2 * count)
  batch.count = count - 1
}
