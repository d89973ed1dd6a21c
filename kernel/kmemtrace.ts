/**
 * The fast path of kmemtrace: allocations and frees of known types without features, to columns and back, in every
 * layout. Everything else goes to lib/formats/kmemtrace, which then resumes the kernel.
 */

import {
  ADDRESS,
  API,
  ATTRIBUTES,
  CALL_SITE,
  CODE,
  CPU,
  ELEMENTS,
  GFP_FLAGS,
  KIND,
  MASK,
  NODE,
  SEQUENCE,
  SIZE,
  TIME,
  USABLE,
} from './shared/columns'
import {
  API_KFREE,
  API_KMALLOC,
  API_KMEM_CACHE_ALLOC,
  API_KMEM_CACHE_FREE,
  API_PAGES,
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
  KIND_ALLOC,
  KIND_FREE,
} from './shared/event'

export {
  ADDRESS,
  API,
  ATTRIBUTES,
  CALL_SITE,
  CODE,
  CPU,
  ELEMENTS,
  GFP_FLAGS,
  KIND,
  MASK,
  NODE,
  SEQUENCE,
  SIZE,
  TIME,
  USABLE,
}

/**
 * Where records are read. Behind its 262144 bytes there is room for what a free would have if it were an allocation.
 */
export const INPUT: usize = memory.data(262208)
/** Where records are written: 114688 bytes, and behind them room for the longest record that begins there. */
export const OUTPUT: usize = memory.data(180288)

/** A layout is a set of these. There is no narrow one without `TIMED`. */
const BIG: u32 = 1
const TIMED: u32 = 2
const NARROW: u32 = 4

/** Event ids are the codes of the kinds. */
const ALLOC: u32 = <u32>KIND_ALLOC
const FREE: u32 = <u32>KIND_FREE

/** By event id and twice the type id: the function. There is no type 3. */
const APIS: usize = memory.data(8)
store<u8>(APIS, API_KMALLOC)
store<u8>(APIS + 1, API_KFREE)
store<u8>(APIS + 2, API_KMEM_CACHE_ALLOC)
store<u8>(APIS + 3, API_KMEM_CACHE_FREE)
store<u8>(APIS + 4, API_PAGES)
store<u8>(APIS + 5, API_PAGES)

/**
 * By function and 16 times the event id: the type id, `NO_TYPE` if it has none. 15 stands for no function, which has
 * none.
 */
const TYPES: usize = memory.data(32)
const NO_TYPE: u32 = 0xff
memory.fill(TYPES, <u8>NO_TYPE, 32)
for (let type: u32 = 0; type < 3; type++) {
  store<u8>(TYPES + load<u8>(APIS + 2 * type), <u8>type)
  store<u8>(TYPES + 16 + load<u8>(APIS + 2 * type + 1), <u8>type)
}

/** Behind the last record that was read. */
export let position: usize = 0
/** Behind the last byte that was written, from `OUTPUT` on. */
export let written: usize = 0
/** What was written last as a record's number. */
export let sequence: u32 = 0

/** Where the call site stands, and how long the records are. */
// @ts-ignore: decorator
@inline
function siteAt(form: u32): usize {
  return form & TIMED ? 16 : 8
}

// @ts-ignore: decorator
@inline
function coreSize(form: u32): usize {
  return siteAt(form) + (form & NARROW ? 8 : 16)
}

// @ts-ignore: decorator
@inline
function allocSize(form: u32): usize {
  return coreSize(form) + (form & NARROW ? 16 : 24)
}

/** The first word of a record as this machine reads it, but for the type. */
// @ts-ignore: decorator
@inline
function headOf(form: u32, event: u32, length: usize): u32 {
  return event | (<u32>(form & BIG ? length << 24 : length << 16))
}

/** Two words of 64 bits, from one byte order to the other if the records are not in that of this machine. */
// @ts-ignore: decorator
@inline
function order64(form: u32, value: v128): v128 {
  return form & BIG ? v128.shuffle<u8>(value, value, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8) : value
}

/** Four words of 32 bits likewise. */
// @ts-ignore: decorator
@inline
function order32(form: u32, value: v128): v128 {
  return form & BIG ? v128.shuffle<u8>(value, value, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12) : value
}

/**
 * Reads records from `p` to `end`, until one is not usual, or they or the rows end.
 * @param form how the records are laid out
 * @param i the first row to fill
 * @param rows one past the last one
 * @param shared the fields that every record has, but for its function
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

// Each layout has a loop of its own, in a function of its own: of loops in one function the compiler makes one that
// asks for the layout.
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
    store<u8>(KIND + i, <u8>frees)
    store<u8>(API + i, load<u8>(APIS + (frees | (type >> 7))))
    store<u32>(MASK + word, select<u32>(freeFields, allocFields, frees))
    const number = load<u32>(p, 4)
    store<u32>((form & TIMED ? CPU : SEQUENCE) + word, form & BIG ? bswap<u32>(number) : number)
    // Of a free, what stands behind it is taken for what an allocation has there: nobody looks at it, and that costs
    // less than to ask.
    if (form & NARROW) {
      v128.store_lane<u64>(TIME + wide, order64(form, v128.load(p, 8)), 0)
      const words = order32(form, v128.load(p, 16))
      const places = i64x2.extend_low_i32x4_u(words)
      v128.store_lane<u64>(CALL_SITE + wide, places, 0)
      v128.store_lane<u64>(ADDRESS + wide, places, 1)
      const sizes = i64x2.extend_high_i32x4_u(words)
      v128.store_lane<u64>(SIZE + wide, sizes, 0)
      v128.store_lane<u64>(USABLE + wide, sizes, 1)
    } else {
      if (form & TIMED) v128.store_lane<u64>(TIME + wide, order64(form, v128.load(p, 8)), 0)
      const places = order64(form, v128.load(p + siteAt(form)))
      v128.store_lane<u64>(CALL_SITE + wide, places, 0)
      v128.store_lane<u64>(ADDRESS + wide, places, 1)
      const sizes = order64(form, v128.load(p + core))
      v128.store_lane<u64>(SIZE + wide, sizes, 0)
      v128.store_lane<u64>(USABLE + wide, sizes, 1)
    }
    const last = order32(form, v128.load(p + alloc - 8))
    v128.store_lane<u32>(GFP_FLAGS + word, last, 0)
    v128.store_lane<u32>(NODE + word, last, 1)
    p = next
  }
  position = p
  return i
}

/**
 * Writes the records of events, until one is not usual, or they or the room end.
 * @param form how the records are laid out
 * @param i the first row
 * @param rows one past the last one
 * @param out where the first record goes, from `OUTPUT` on
 * @param end no record begins there or behind it
 * @param number what was written last as a record's number
 * @param cpu what `ftrace` records of events without a CPU say; an event of another one than this is unusual if its
 *   fields have `watched`
 * @param watched `HAS_CPU` or 0
 * @param micros times are microseconds
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

/** What an event must not have to be usual. */
const UNUSUAL: u32 = HAS_CODE | HAS_ATTRIBUTES | HAS_OLD_ADDRESS
/** What only allocations have, but for what they must have. */
const BLOCK_FIELDS: u32 = HAS_USABLE | HAS_GFP_FLAGS | HAS_NODE

// @ts-ignore: decorator
@inline
function pair(first: u64, second: u64): v128 {
  return i64x2.replace_lane(i64x2.splat(<i64>first), 1, <i64>second)
}

/** Writes two numbers. As this machine has them, they need not be made one first. */
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

// Each layout has a loop of its own, in a function of its own: of loops in one function the compiler makes one that
// asks for the layout.
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
    // `HAS_API` is 1: all bits are set here if there is none.
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
    // Kernels say all there is to say; others do not, and then mostly of no event.
    if ((set & most) != most) {
      site = select<u64>(site, 0, set & HAS_CALL_SITE)
      // Where nothing says how much was really allocated, it is as much as was asked for.
      usable = select<u64>(usable, size, set & HAS_USABLE)
      flags = select<u32>(flags, 0, set & HAS_GFP_FLAGS)
      // All bits set is -1: on the node of the CPU that allocates.
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
    // What an allocation has behind what a free has is written of a free, too, and then written over by the record
    // behind it.
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
