/** The values of an event, `KEY=VALUE`. */

import { ADDRESS, CALL_SITE, ELEMENTS, FUNCTION, GFP_FLAGS, MODULE, NODE, SIZE, TYPE, USABLE } from '../shared/columns'
import * as Event from '../shared/event'
import { findEither, LF } from '../shared/lines'
import { decimal, hex } from '../shared/numbers'
import { intern } from '../shared/strings'
import { api, kind } from './name'
import { BRACKET, CLOSE, CLOSING_BRACKET, DASH, EQUALS, isDigit, NUMBER, OPEN, PLUS, skipSpaces, SPACE } from './scan'

/** The offset within the function, for `fields`; length 0 if there is none. */
export let offsetAt: usize = 0
export let offsetLength: u32 = 0
/** The names of the GFP flags, for `fields`; length 0 if there are none. */
export let flagsAt: usize = 0
export let flagsLength: u32 = 0
/** 0 or 1; 2 if the line does not state it. */
export let accounted: u32 = 2
export let migrateType: u64 = 0
export let hasMigrateType: bool = false

/** Reads a value, in hex with `0x` or in decimal. @returns the position after it, or 0 */
// @ts-ignore: decorator
@inline
function number(p: usize, to: usize): usize {
  return <u32>load<u16>(p) == 0x7830 ? hex(p + 2, to) : decimal(p, to)
}

/** Reads a pointer: hex with or without `0x`, or a word in parentheses for a null or hidden pointer. */
function pointer(p: usize, to: usize): usize {
  p = skipSpaces(p)
  if (load<u8>(p) == OPEN) {
    const c = load<u8>(p + 1)
    store<u64>(to, 0)
    p = findEither(p, CLOSE)
    // (nil) and (null), but (____ptrval____).
    return c == 0x6e && load<u8>(p) == CLOSE ? p + 1 : 0
  }
  if (load<u32>(p) == 0x4c4c_554e) {
    store<u64>(to, 0)
    return p + 4
  }
  return hex(<u32>load<u16>(p) == 0x7830 ? p + 2 : p, to)
}

// @ts-ignore: decorator
@inline
function wordEnd(p: usize): usize {
  return findEither(p, SPACE)
}

/** Reads `F+0xO/0xS`, `0xH` or `H`. */
function readCallSite(p: usize, end: usize, i: u32): u32 {
  const wide = (<usize>i) << 3
  const word = <u32>load<u16>(p) == 0x7830 ? p + 2 : p
  return hex(word, CALL_SITE + wide) == end ? Event.HAS_CALL_SITE : readFunction(p, end, i)
}

/** Reads `F+0xO/0xS`. */
function readFunction(p: usize, end: usize, i: u32): u32 {
  let q = end
  while (q > p && load<u8>(q - 1) != PLUS) q--
  const nameEnd = q > p + 1 ? q - 1 : end
  store<u32>(FUNCTION + ((<usize>i) << 2), intern(p, <u32>(nameEnd - p)))
  offsetAt = nameEnd
  offsetLength = <u32>(end - nameEnd)
  return Event.HAS_FUNCTION
}

/** The ends of keys with their equals signs, in words: a key must not reach into the next line. */
const LL_SITE: u64 = 0x3d65_7469_735f_6c6c
const TES_REQ: u64 = 0x3d71_6572_5f73_6574
const S_ALLOC: u64 = 0x3d63_6f6c_6c61_5f73
const P_FLAGS: u64 = 0x3d73_6761_6c66_5f70
const COUNTED: u64 = 0x3d64_6574_6e75_6f63
const ATETYPE: u64 = 0x3d65_7079_7465_7461

/** Reads the values `KEY=VALUE`. @returns the set of fields, or 0 if something is missing or wrong */
export function readValues(p: usize, i: u32, pageSize: u64): u32 {
  const at = (<usize>i) << 2
  const wide = (<usize>i) << 3
  let set: u32 = Event.HAS_API
  let order: u64 = 64
  let pfn: bool = false
  let page: u64 = 1
  let pointed: bool = false
  offsetLength = 0
  flagsLength = 0
  accounted = 2
  hasMigrateType = false
  p = skipSpaces(p)
  if (load<u8>(p) == OPEN) {
    // (F+0xO): perf and trace-cmd know the function of a call site that is a number.
    const end = findEither(p, CLOSE)
    if (load<u8>(end) == CLOSE) {
      set |= readFunction(p + 1, end, i)
      p = skipSpaces(end + 1)
    }
  }
  while (load<u8>(p) != LF) {
    const key = load<u32>(p)
    let next: usize = 0
    if (key == 0x6c6c_6163 && load<u64>(p + 2) == LL_SITE) {
      // call_site
      next = wordEnd(p + 10)
      set |= readCallSite(p + 10, next, i)
    } else if (key == 0x3d72_7470) {
      // ptr
      next = pointer(p + 4, ADDRESS + wide)
      pointed = true
      if (next != 0) set |= Event.HAS_ADDRESS
      else next = wordEnd(skipSpaces(p + 4))
    } else if (key == 0x656d_616e && load<u8>(p + 4) == EQUALS) {
      // name
      next = wordEnd(p + 5)
      store<u32>(TYPE + at, intern(p + 5, <u32>(next - p - 5)))
      set |= Event.HAS_TYPE
    } else if (key == 0x6574_7962 && load<u64>(p + 2) == TES_REQ) {
      // bytes_req
      next = number(p + 10, SIZE + wide)
      set |= Event.HAS_SIZE
    } else if (key == 0x6574_7962 && load<u64>(p + 4) == S_ALLOC) {
      // bytes_alloc
      next = number(p + 12, USABLE + wide)
      set |= Event.HAS_USABLE
    } else if (key == 0x5f70_6667 && load<u64>(p + 2) == P_FLAGS) {
      // gfp_flags
      next = wordEnd(p + 10)
      const c = load<u8>(p + 10)
      if (isDigit(c)) {
        if (number(p + 10, NUMBER) != next || load<u32>(NUMBER, 4) != 0) return 0
        store<u32>(GFP_FLAGS + at, load<u32>(NUMBER))
        set |= Event.HAS_GFP_FLAGS
      } else if (next - p == 14 && load<u32>(p + 10) == 0x656e_6f6e) {
        store<u32>(GFP_FLAGS + at, 0)
        set |= Event.HAS_GFP_FLAGS
      } else {
        flagsAt = p + 10
        flagsLength = <u32>(next - flagsAt)
      }
    } else if (key == 0x6564_6f6e && load<u8>(p + 4) == EQUALS) {
      // node
      const isNegative = load<u8>(p + 5) == DASH
      next = number(isNegative ? p + 6 : p + 5, NUMBER)
      const value = <i32>load<u32>(NUMBER)
      if (load<u32>(NUMBER, 4) != 0) return 0
      store<u32>(NODE + at, isNegative ? -value : value)
      set |= Event.HAS_NODE
    } else if (key == 0x6f63_6361 && load<u64>(p + 2) == COUNTED) {
      // accounted: true, false, 0, 1, (0), (1)
      const c = load<u8>(p + 10) == OPEN ? load<u8>(p + 11) : load<u8>(p + 10)
      accounted = c == 0x74 || c == 0x31 ? 1 : 0
      next = wordEnd(p + 10)
    } else if (key == 0x3d6e_6670) {
      // pfn
      next = number(p + 4, NUMBER)
      // Old kernels print a number for null, too, which is that of no page.
      const frame = page == 0 ? 0 : load<u64>(NUMBER)
      if (next == 0 || frame > u64.MAX_VALUE / pageSize) return 0
      store<u64>(ADDRESS + wide, frame * pageSize)
      pfn = true
    } else if (key == 0x6564_726f && load<u16>(p + 4) == 0x3d72) {
      // order
      next = number(p + 6, NUMBER)
      order = load<u64>(NUMBER)
    } else if (key == 0x7267_696d && load<u64>(p + 4) == ATETYPE) {
      // migratetype
      next = number(p + 12, NUMBER)
      migrateType = load<u64>(NUMBER)
      hasMigrateType = true
    } else if (load<u8>(p) == BRACKET) {
      // The module of the preceding function.
      next = wordEnd(p)
      if ((set & Event.HAS_FUNCTION) != 0 && load<u8>(next - 1) == CLOSING_BRACKET) {
        store<u32>(MODULE + at, intern(p + 1, <u32>(next - p - 2)))
        set |= Event.HAS_MODULE
      }
    } else if (load<u8>(p) == OPEN) {
      // The preceding value again, in another form.
      next = findEither(p, CLOSE)
      if (load<u8>(next) == CLOSE) next++
    } else if (key == 0x6567_6170 && load<u8>(p + 4) == EQUALS) {
      // page: a pointer that adds nothing to pfn, unless it is null; (null) may be after spaces.
      next = pointer(p + 5, NUMBER)
      if (next != 0) page = load<u64>(NUMBER)
      else next = wordEnd(skipSpaces(p + 5))
    } else {
      next = wordEnd(p)
    }
    if (next == 0 || (load<u8>(next) != SPACE && load<u8>(next) != LF)) return 0
    p = skipSpaces(next)
  }
  if (api == Event.API_PAGES) {
    if (!pfn || order > 40 || pageSize > u64.MAX_VALUE >> order) return 0
    store<u64>(SIZE + wide, pageSize << order)
    set |= Event.HAS_ADDRESS | Event.HAS_SIZE
    if (kind == Event.KIND_ALLOC) {
      store<u64>(ELEMENTS + wide, (<u64>1) << order)
      set |= Event.HAS_COUNT
    }
    return set
  }
  // Where the kernel hides an address, the event has none; but a line without any pointer is not an event.
  if (!pointed) return 0
  return kind == Event.KIND_ALLOC && (set & Event.HAS_SIZE) == 0 ? 0 : set
}
