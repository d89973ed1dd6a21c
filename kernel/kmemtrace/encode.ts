/** Columns to records. */

import {
  ADDRESS,
  API,
  CALL_SITE,
  CPU,
  GFP_FLAGS,
  KIND,
  MASK,
  NODE,
  SEQUENCE,
  SIZE,
  TIME,
  USABLE,
} from '../shared/columns'
import {
  HAS_ADDRESS,
  HAS_API,
  HAS_ATTRIBUTES,
  HAS_CALL_SITE,
  HAS_CODE,
  HAS_CPU,
  HAS_GFP_FLAGS,
  HAS_NODE,
  HAS_OLD_ADDRESS,
  HAS_SEQUENCE,
  HAS_SIZE,
  HAS_TIME,
  HAS_USABLE,
} from '../shared/event'
import {
  ALLOC,
  allocSize,
  BIG,
  coreSize,
  FREE,
  headOf,
  NARROW,
  order32,
  order64,
  OUTPUT,
  siteAt,
  TIMED,
  TYPES,
} from './layout'

/** The number of bytes of output. */
export let written: usize = 0
/** The last number of a record that was written. */
export let sequence: u32 = 0

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
): u32 {
  if (form == 0) return writeRelay(i, rows, out, end, number, cpu, watched, micros)
  if (form == BIG) return writeRelayBig(i, rows, out, end, number, cpu, watched, micros)
  if (form == TIMED) return writeFtrace(i, rows, out, end, number, cpu, watched, micros)
  if (form == (TIMED | BIG)) return writeFtraceBig(i, rows, out, end, number, cpu, watched, micros)
  if (form == (TIMED | NARROW)) return writeFtrace32(i, rows, out, end, number, cpu, watched, micros)
  return writeFtrace32Big(i, rows, out, end, number, cpu, watched, micros)
}

/** Fields that make an event unusual. */
const UNUSUAL: u32 = HAS_CODE | HAS_ATTRIBUTES | HAS_OLD_ADDRESS
/** Optional fields that only allocations have. */
const BLOCK_FIELDS: u32 = HAS_USABLE | HAS_GFP_FLAGS | HAS_NODE

/** Two numbers in one vector. */
// @ts-ignore: decorator
@inline
function pair(first: u64, second: u64): v128 {
  return i64x2.replace_lane(i64x2.splat(<i64>first), 1, <i64>second)
}

/** Writes two numbers. In the byte order of this machine they need not be combined first. */
// @ts-ignore: decorator
@inline
function write64(form: u32, p: usize, first: u64, second: u64): void {
  if (form & BIG) {
    v128.store(p, order64(form, pair(first, second)))
  } else {
    store<u64>(p, first)
    store<u64>(p, second, 8)
  }
}

// Each layout has a loop in a function of its own. The compiler would merge loops in one function into one loop that
// checks the layout.
function writeRelay(i: u32, rows: u32, out: usize, end: usize, number: u32, cpu: u32, watched: u32, micros: bool): u32 {
  return write(0, i, rows, out, end, number, cpu, watched, micros)
}
function writeRelayBig(
  i: u32,
  rows: u32,
  out: usize,
  end: usize,
  number: u32,
  cpu: u32,
  watched: u32,
  micros: bool,
): u32 {
  return write(BIG, i, rows, out, end, number, cpu, watched, micros)
}
function writeFtrace(
  i: u32,
  rows: u32,
  out: usize,
  end: usize,
  number: u32,
  cpu: u32,
  watched: u32,
  micros: bool,
): u32 {
  return write(TIMED, i, rows, out, end, number, cpu, watched, micros)
}
function writeFtraceBig(
  i: u32,
  rows: u32,
  out: usize,
  end: usize,
  number: u32,
  cpu: u32,
  watched: u32,
  micros: bool,
): u32 {
  return write(TIMED | BIG, i, rows, out, end, number, cpu, watched, micros)
}
function writeFtrace32(
  i: u32,
  rows: u32,
  out: usize,
  end: usize,
  number: u32,
  cpu: u32,
  watched: u32,
  micros: bool,
): u32 {
  return write(TIMED | NARROW, i, rows, out, end, number, cpu, watched, micros)
}
function writeFtrace32Big(
  i: u32,
  rows: u32,
  out: usize,
  end: usize,
  number: u32,
  cpu: u32,
  watched: u32,
  micros: bool,
): u32 {
  return write(TIMED | NARROW | BIG, i, rows, out, end, number, cpu, watched, micros)
}

// @ts-ignore: decorator
@inline
function write(
  form: u32,
  i: u32,
  rows: u32,
  out: usize,
  end: usize,
  number: u32,
  cpu: u32,
  watched: u32,
  micros: bool,
): u32 {
  const core = coreSize(form)
  const alloc = allocSize(form)
  const allocHead = headOf(form, ALLOC, alloc)
  const freeHead = headOf(form, FREE, core)
  const scale: u64 = micros ? 1000 : 1
  const longest = u64.MAX_VALUE / scale
  let p = OUTPUT + out
  const stop = OUTPUT + end
  for (; i < rows && p < stop; i++) {
    const word = (<usize>i) << 2
    const wide = (<usize>i) << 3
    const set = load<u32>(MASK + word)
    const what = <u32>load<u8>(KIND + i)
    const frees = what & 1
    const least = select<u32>(HAS_ADDRESS, HAS_ADDRESS | HAS_SIZE, frees)
    // `HAS_API` is 1, so all bits are set if there is no function.
    const by = ((<u32>load<u8>(API + i)) | ((set & HAS_API) - 1)) & 15
    const type = <u32>load<u8>(TYPES + (by | (frees << 4)))
    let odd = (what ^ frees) | ((set & (least | UNUSUAL)) ^ least) | (type & 0x80)

    let site = load<u64>(CALL_SITE + wide)
    const address = load<u64>(ADDRESS + wide)
    const size = load<u64>(SIZE + wide)
    let usable = load<u64>(USABLE + wide)
    let flags = load<u32>(GFP_FLAGS + word)
    let node = load<u32>(NODE + word)
    let time: u64 = form & TIMED ? load<u64>(TIME + wide) : 0
    let next = load<u32>((form & TIMED ? CPU : SEQUENCE) + word)
    const most =
      (form & TIMED ? HAS_CPU | HAS_TIME : HAS_SEQUENCE) |
      select<u32>(HAS_CALL_SITE, HAS_CALL_SITE | BLOCK_FIELDS, frees)
    // Events of kernels have all of these fields. In other traces most events lack some.
    if ((set & most) != most) {
      site = select<u64>(site, 0, set & HAS_CALL_SITE)
      // An unknown usable size is taken to be the requested size.
      usable = select<u64>(usable, size, set & HAS_USABLE)
      flags = select<u32>(flags, 0, set & HAS_GFP_FLAGS)
      // -1 is the node of the CPU that allocates.
      node = select<u32>(node, -1, set & HAS_NODE)
      time = select<u64>(time, 0, set & HAS_TIME)
      next = form & TIMED ? select<u32>(next, cpu, set & HAS_CPU) : select<u32>(next, number + 1, set & HAS_SEQUENCE)
    }
    if (form & TIMED) {
      odd |= <u32>(time > longest)
      time *= scale
    } else {
      odd |= (<u32>((set & watched) != 0)) & (<u32>(load<u32>(CPU + word) != cpu))
    }
    if (form & NARROW) odd |= <u32>((site | address | ((size | usable) & (<u64>frees - 1))) >> 32)
    if (odd != 0) break

    number = next
    store<u32>(p, select<u32>(freeHead, allocHead, frees) | (type << 8))
    store<u32>(p, form & BIG ? bswap<u32>(next) : next, 4)
    if (form & TIMED) store<u64>(p + 8, form & BIG ? bswap<u64>(time) : time)
    // For a free this also writes the fields that only allocations have. The next record overwrites them.
    if (form & NARROW) {
      v128.store(p, order32(form, v128.shuffle<u32>(pair(site, address), pair(size, usable), 0, 2, 4, 6)), 16)
    } else {
      write64(form, p + siteAt(form), site, address)
      write64(form, p + core, size, usable)
    }
    store<u32>(p + alloc - 8, form & BIG ? bswap<u32>(flags) : flags)
    store<u32>(p + alloc - 4, form & BIG ? bswap<u32>(node) : node)
    p += select<usize>(core, alloc, frees)
  }
  written = p - OUTPUT
  sequence = number
  return i
}
