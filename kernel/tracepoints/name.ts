/** Names of events, which identify the lines that are events, and their functions. */

import * as Event from '../shared/event'
import { findEither, LF } from '../shared/lines'
import { COLON, skipSpaces, SPACE } from './scan'

/** The start of the event's own text, after its name and colon. */
export let textAt: usize = 0
/** The kind of the event. */
export let kind: u8 = 0
/** The function that it reports. */
export let api: u8 = 0
/** The event's name if the function does not imply it, or 0. */
export let oldName: usize = 0
export let oldNameLength: u32 = 0

/** `kmalloc`, `kmem_cach`, ... in words. */
const KMALLOC_: u64 = 0x3a63_6f6c_6c61_6d6b
const KMALLOC_NODE: u64 = 0x5f63_6f6c_6c61_6d6b
const NODE_: u32 = 0x6564_6f6e
const KFREE: u32 = 0x6572_666b
const KMEM_CAC: u64 = 0x6361_635f_6d65_6d6b
const HE_A: u32 = 0x615f_6568
const HE_F: u32 = 0x665f_6568
const LLOC: u32 = 0x636f_6c6c
const REE_: u32 = 0x3a65_6572
const MM_PAGE_: u64 = 0x5f65_6761_705f_6d6d
const ALLO: u32 = 0x6f6c_6c61
const FREE: u32 = 0x6565_7266
const _DIRECT_: u64 = 0x3a74_6365_7269_645f
const KMEM: u32 = 0x6d65_6d6b

/** Recognizes the name of an event and its colon at `p`, and sets the variables above. */
function isEvent(p: usize): bool {
  const word = load<u64>(p)
  let end: usize = 0
  oldName = 0
  if (word == KMALLOC_) {
    end = p + 7
    kind = Event.KIND_ALLOC
    api = Event.API_KMALLOC
  } else if (<u32>word == KFREE && load<u16>(p + 4) == 0x3a65) {
    end = p + 5
    kind = Event.KIND_FREE
    api = Event.API_KFREE
  } else if (word == KMEM_CAC) {
    const rest = load<u32>(p + 8)
    if (rest == HE_F && load<u32>(p + 12) == REE_) {
      end = p + 15
      kind = Event.KIND_FREE
      api = Event.API_KMEM_CACHE_FREE
    } else if (rest == HE_A && load<u32>(p + 12) == LLOC) {
      end = p + 16
      kind = Event.KIND_ALLOC
      api = Event.API_KMEM_CACHE_ALLOC
      if (load<u8>(end) == 0x5f && load<u32>(end + 1) == NODE_) {
        end += 5
        oldName = p
        oldNameLength = 21
      }
    }
  } else if (word == MM_PAGE_) {
    const rest = load<u32>(p + 8)
    api = Event.API_PAGES
    if (rest == FREE) {
      end = p + 12
      kind = Event.KIND_FREE
      if (load<u64>(end) == _DIRECT_) {
        end += 7
        oldName = p
        oldNameLength = 19
      }
    } else if (rest == ALLO && load<u8>(p + 12) == 0x63) {
      end = p + 13
      kind = Event.KIND_ALLOC
    }
  } else if (word == KMALLOC_NODE && load<u32>(p + 8) == NODE_) {
    end = p + 12
    kind = Event.KIND_ALLOC
    api = Event.API_KMALLOC
    oldName = p
    oldNameLength = 12
  }
  if (end == 0 || load<u8>(end) != COLON) return false
  textAt = end + 1
  return true
}

/** The colon after the time of the event in a line, or 0 if the line has no event. */
// @ts-ignore: decorator
@inline
export function timeEnd(p: usize): usize {
  p = findEither(p, COLON)
  while (load<u8>(p) != LF) {
    if (load<u8>(p + 1) == SPACE) {
      let q = skipSpaces(p + 2)
      // (+12): how long it took since the previous event.
      if (load<u16>(q) == 0x2b28) q = skipSpaces(findEither(q, SPACE))
      if (load<u32>(q) == KMEM && load<u8>(q + 4) == COLON) q += 5
      if (isEvent(q)) return p
    }
    p = findEither(p + 1, COLON)
  }
  return 0
}

/** Whether a line without a time before an event's name has one all the same: `kmem:EVENT:` as a word. */
export function isUntimed(p: usize): bool {
  const start = p
  p = findEither(p, COLON)
  while (load<u8>(p) != LF) {
    const word = p - 4
    if (word >= start && load<u32>(word) == KMEM && (word == start || load<u8>(word - 1) == SPACE) && isEvent(p + 1))
      return true
    p = findEither(p + 1, COLON)
  }
  return false
}
