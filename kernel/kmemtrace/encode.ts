/** Columns to records. */

import { BIG, NARROW, TIMED } from '../../lib/kernel/layouts/kmemtrace'
import * as Column from '../shared/columns'
import * as Event from '../shared/event'
import { ALLOC, allocSize, coreSize, FREE, headOf, order32, order64, OUTPUT, siteAt, TYPES } from './layout'

/** The number of bytes of output. */
export let written: usize = 0
/** The last number of a record that was written. */
export let sequence: u32 = 0

/** Arguments of `encode`, for all of its loops. */
let ownCpu: u32 = 0
let watchedFields: u32 = 0
let inMicros: bool = false
let wholeOnly: bool = false

/**
 * Writes the records of events. Stops at the end of the events or of the room, or at an unusual event.
 * @param form the layout of the records
 * @param i the first row
 * @param rows one past the last one
 * @param out where the first record begins, relative to `OUTPUT`
 * @param end all records begin before this, relative to `OUTPUT`
 * @param number the last number of a record that was written
 * @param cpu the CPU in `ftrace` records of events without one. An event of another CPU is unusual if its fields
 *   include `watched`.
 * @param watched `HAS_CPU` or 0
 * @param micros whether times are microseconds
 * @param onlyWhole whether to stop before an event that has other fields than its record, as if it were unusual
 * @returns the first row that was not written
 */
export function encode(
  form: u32,
  i: u32,
  rows: u32,
  out: usize,
  end: usize,
  number: u32,
  cpu: u32,
  watched: u32,
  micros: bool,
  onlyWhole: bool,
): u32 {
  sequence = number
  ownCpu = cpu
  watchedFields = watched
  inMicros = micros
  wholeOnly = onlyWhole
  if (form == 0) return writeRelay(i, rows, out, end)
  if (form == BIG) return writeRelayBig(i, rows, out, end)
  if (form == TIMED) return writeFtrace(i, rows, out, end)
  if (form == (TIMED | BIG)) return writeFtraceBig(i, rows, out, end)
  if (form == (TIMED | NARROW)) return writeFtrace32(i, rows, out, end)
  return writeFtrace32Big(i, rows, out, end)
}

/** Fields that make an event unusual. */
const UNUSUAL: u32 = Event.HAS_CODE | Event.HAS_ATTRIBUTES | Event.HAS_OLD_ADDRESS
/** Further fields that only allocations have. */
const BLOCK_FIELDS: u32 = Event.HAS_USABLE | Event.HAS_GFP_FLAGS | Event.HAS_NODE

/** Two numbers in one vector. */
function pair(first: u64, second: u64): v128 {
  return i64x2.replace_lane(i64x2.splat(<i64>first), 1, <i64>second)
}

/** Writes two words at once. */
// @ts-ignore: decorator
@inline
function store64(form: u32, p: usize, first: u32, second: u32): void {
  if (form & BIG) store<u64>(p, bswap<u64>(((<u64>first) << 32) | (<u64>second)))
  else store<u64>(p, (<u64>first) | ((<u64>second) << 32))
}

// Each layout has a loop in a function of its own. The compiler would merge loops in one function into one loop that
// checks the layout.
function writeRelay(i: u32, rows: u32, out: usize, end: usize): u32 {
  return write(0, i, rows, out, end)
}
function writeRelayBig(i: u32, rows: u32, out: usize, end: usize): u32 {
  return write(BIG, i, rows, out, end)
}
function writeFtrace(i: u32, rows: u32, out: usize, end: usize): u32 {
  return write(TIMED, i, rows, out, end)
}
function writeFtraceBig(i: u32, rows: u32, out: usize, end: usize): u32 {
  return write(TIMED | BIG, i, rows, out, end)
}
function writeFtrace32(i: u32, rows: u32, out: usize, end: usize): u32 {
  return write(TIMED | NARROW, i, rows, out, end)
}
function writeFtrace32Big(i: u32, rows: u32, out: usize, end: usize): u32 {
  return write(TIMED | NARROW | BIG, i, rows, out, end)
}

// @ts-ignore: decorator
@inline
function write(form: u32, i: u32, rows: u32, out: usize, end: usize): u32 {
  let number = sequence
  const cpu = ownCpu
  const watched = watchedFields
  const onlyWhole = wholeOnly
  const core = coreSize(form)
  const alloc = allocSize(form)
  const allocHead = headOf(form, ALLOC, alloc)
  const freeHead = headOf(form, FREE, core)
  const scale: u64 = inMicros ? 1000 : 1
  const longest = u64.MAX_VALUE / scale
  const freeFields =
    Event.HAS_API |
    Event.HAS_ADDRESS |
    Event.HAS_CALL_SITE |
    (form & TIMED ? Event.HAS_CPU | Event.HAS_TIME : Event.HAS_SEQUENCE) |
    watched
  const allocFields = freeFields | Event.HAS_SIZE | BLOCK_FIELDS
  let p = OUTPUT + out
  const stop = OUTPUT + end
  for (; i < rows && p < stop; i++) {
    const word = (<usize>i) << 2
    const wide = (<usize>i) << 3
    const set = load<u32>(word, Column.MASK)
    const what = <u32>load<u8>(i, Column.KIND)
    const frees = what & 1
    const whole = select<u32>(freeFields, allocFields, frees)
    let by = <u32>load<u8>(i, Column.API)
    let odd = what ^ frees

    let places: v128
    let sizes: v128
    let flags = load<u32>(word, Column.GFP_FLAGS)
    let node = load<u32>(word, Column.NODE)
    let time: u64 = form & TIMED ? load<u64>(wide, Column.TIME) : 0
    let next = form & TIMED ? load<u32>(word, Column.CPU) : load<u32>(word, Column.SEQUENCE)
    // Events of kernels have all fields of a record, and no others. In other traces most events lack some.
    if (set == whole) {
      places = v128.load_lane<u64>(wide, v128.load_zero<u64>(wide, Column.CALL_SITE), 1, Column.ADDRESS)
      sizes = v128.load_lane<u64>(wide, v128.load_zero<u64>(wide, Column.SIZE), 1, Column.USABLE)
    } else {
      if (onlyWhole) break
      const least = select<u32>(Event.HAS_ADDRESS, Event.HAS_ADDRESS | Event.HAS_SIZE, frees)
      odd |= (set & (least | UNUSUAL)) ^ least
      // `HAS_API` is 1, so all bits are set if there is no function.
      by |= (set & Event.HAS_API) - 1
      places = pair(
        select<u64>(load<u64>(wide, Column.CALL_SITE), 0, set & Event.HAS_CALL_SITE),
        load<u64>(wide, Column.ADDRESS),
      )
      // An unknown usable size is taken to be the requested size.
      const size = load<u64>(wide, Column.SIZE)
      sizes = pair(size, select<u64>(load<u64>(wide, Column.USABLE), size, set & Event.HAS_USABLE))
      flags = select<u32>(flags, 0, set & Event.HAS_GFP_FLAGS)
      // -1 is the node of the CPU that allocates.
      node = select<u32>(node, -1, set & Event.HAS_NODE)
      time = select<u64>(time, 0, set & Event.HAS_TIME)
      next =
        form & TIMED
          ? select<u32>(next, cpu, set & Event.HAS_CPU)
          : select<u32>(next, number + 1, set & Event.HAS_SEQUENCE)
    }
    const type = <u32>load<u8>((by & 15) | (frees << 4), TYPES)
    odd |= type & 0x80
    if (form & TIMED) {
      odd |= <u32>(time > longest)
      time *= scale
    } else if ((set & watched) != 0) {
      odd |= <u32>(load<u32>(word, Column.CPU) != cpu)
    }
    if (form & NARROW) {
      const wides = v128.or(places, v128.and(sizes, i64x2.splat(<i64>frees - 1)))
      odd |= <u32>v128.any_true(i64x2.shr_u(wides, 32))
    }
    if (odd != 0) break

    number = next
    const head = select<u32>(freeHead, allocHead, frees) | (type << 8)
    store64(form, p, form & BIG ? bswap<u32>(head) : head, next)
    if (form & TIMED) store<u64>(p, form & BIG ? bswap<u64>(time) : time, 8)
    // For a free this also writes the fields that only allocations have. The next record overwrites them.
    if (form & NARROW) {
      v128.store(p, order32(form, v128.shuffle<u32>(places, sizes, 0, 2, 4, 6)), 16)
    } else {
      v128.store(p + siteAt(form), order64(form, places))
      v128.store(p + core, order64(form, sizes))
    }
    store64(form, p + (alloc - 8), flags, node)
    p += select<usize>(core, alloc, frees)
  }
  written = p - OUTPUT
  sequence = number
  return i
}
