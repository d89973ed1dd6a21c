/** Records to columns. */

import { BIG, NARROW, TIMED } from '../../lib/kernel/layouts/kmemtrace'
import * as Column from '../shared/columns'
import { HAS_API, HAS_GFP_FLAGS, HAS_NODE, HAS_SIZE, HAS_USABLE } from '../shared/event'
import { ALLOC, allocSize, APIS, coreSize, FREE, headOf, order32, order64, siteAt } from './layout'

/** The position after the last record that was read. */
export let position: usize = 0

/**
 * Reads records from `p` to `end`. Stops at the end of the records or rows, or at an unusual record.
 * @param form the layout of the records
 * @param i the first row to fill
 * @param rows one past the last one
 * @param shared the fields that every record has, except its function
 * @returns the first row that was not filled
 */
export function decode(form: u32, p: usize, end: usize, i: u32, rows: u32, shared: u32): u32 {
  if (form == 0) return readRelay(p, end, i, rows, shared)
  if (form == BIG) return readRelayBig(p, end, i, rows, shared)
  if (form == TIMED) return readFtrace(p, end, i, rows, shared)
  if (form == (TIMED | BIG)) return readFtraceBig(p, end, i, rows, shared)
  if (form == (TIMED | NARROW)) return readFtrace32(p, end, i, rows, shared)
  return readFtrace32Big(p, end, i, rows, shared)
}

// Each layout has a loop in a function of its own. The compiler would merge loops in one function into one loop that
// checks the layout.
function readRelay(p: usize, end: usize, i: u32, rows: u32, shared: u32): u32 {
  return read(0, p, end, i, rows, shared)
}
function readRelayBig(p: usize, end: usize, i: u32, rows: u32, shared: u32): u32 {
  return read(BIG, p, end, i, rows, shared)
}
function readFtrace(p: usize, end: usize, i: u32, rows: u32, shared: u32): u32 {
  return read(TIMED, p, end, i, rows, shared)
}
function readFtraceBig(p: usize, end: usize, i: u32, rows: u32, shared: u32): u32 {
  return read(TIMED | BIG, p, end, i, rows, shared)
}
function readFtrace32(p: usize, end: usize, i: u32, rows: u32, shared: u32): u32 {
  return read(TIMED | NARROW, p, end, i, rows, shared)
}
function readFtrace32Big(p: usize, end: usize, i: u32, rows: u32, shared: u32): u32 {
  return read(TIMED | NARROW | BIG, p, end, i, rows, shared)
}

// @ts-ignore: decorator
@inline
function read(form: u32, p: usize, end: usize, i: u32, rows: u32, shared: u32): u32 {
  const core = coreSize(form)
  const alloc = allocSize(form)
  const allocHead = headOf(form, ALLOC, alloc)
  const freeHead = headOf(form, FREE, core)
  const freeFields = shared | HAS_API
  const allocFields = freeFields | HAS_SIZE | HAS_USABLE | HAS_GFP_FLAGS | HAS_NODE
  for (; i < rows; i++) {
    const head = load<u32>(p)
    const frees = head & 1
    const type = head & 0x300
    if ((head ^ type) != select<u32>(freeHead, allocHead, frees) || type == 0x300) break
    const next = p + select<usize>(core, alloc, frees)
    if (next > end) break
    const word = (<usize>i) << 2
    const wide = (<usize>i) << 3
    store<u8>(i, <u8>frees, Column.KIND)
    store<u8>(i, load<u8>(frees | (type >> 7), APIS), Column.API)
    store<u32>(word, select<u32>(freeFields, allocFields, frees), Column.MASK)
    const number = load<u32>(p, 4)
    const ordered = form & BIG ? bswap<u32>(number) : number
    if (form & TIMED) store<u32>(word, ordered, Column.CPU)
    else store<u32>(word, ordered, Column.SEQUENCE)
    // For a free this reads fields that only allocations have from the bytes after it. They are not used, and reading
    // them is cheaper than a branch.
    if (form & NARROW) {
      v128.store_lane<u64>(wide, order64(form, v128.load(p, 8)), 0, Column.TIME)
      const words = order32(form, v128.load(p, 16))
      const places = i64x2.extend_low_i32x4_u(words)
      v128.store_lane<u64>(wide, places, 0, Column.CALL_SITE)
      v128.store_lane<u64>(wide, places, 1, Column.ADDRESS)
      const sizes = i64x2.extend_high_i32x4_u(words)
      v128.store_lane<u64>(wide, sizes, 0, Column.SIZE)
      v128.store_lane<u64>(wide, sizes, 1, Column.USABLE)
    } else {
      if (form & TIMED) v128.store_lane<u64>(wide, order64(form, v128.load(p, 8)), 0, Column.TIME)
      const places = order64(form, v128.load(p + siteAt(form)))
      v128.store_lane<u64>(wide, places, 0, Column.CALL_SITE)
      v128.store_lane<u64>(wide, places, 1, Column.ADDRESS)
      const sizes = order64(form, v128.load(p + core))
      v128.store_lane<u64>(wide, sizes, 0, Column.SIZE)
      v128.store_lane<u64>(wide, sizes, 1, Column.USABLE)
    }
    const last = order32(form, v128.load(p + (alloc - 8)))
    v128.store_lane<u32>(word, last, 0, Column.GFP_FLAGS)
    v128.store_lane<u32>(word, last, 1, Column.NODE)
    p = next
  }
  position = p
  return i
}
