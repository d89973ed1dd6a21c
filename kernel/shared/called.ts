/** Calls of an allocator's functions, by name: their effects, and the corresponding events. */

import { ADDRESS, ALIGNMENT, API, ELEMENT_SIZE, ELEMENTS, FIELDS, KIND, OLD_ADDRESS, SIZE } from './columns'
import * as Event from './event'
import { intern } from './strings'

/** The effects of functions, with their arguments. */
export const NO_CALL: u32 = 0
/** Not a function of an allocator, such as malloc_usable_size. */
export const OTHER: u32 = 1
export const MALLOC: u32 = 2
export const CALLOC: u32 = 3
export const REALLOC: u32 = 4
export const MEMALIGN: u32 = 5
export const FREE: u32 = 6
export const REALLOCARRAY: u32 = 7
export const NEW: u32 = 8
export const DELETE: u32 = 9

/** An allocation without a size argument, such as strdup. */
export const NAMED: u32 = 10

/** Whether the text from `p` on is a word of this many bytes. */
// @ts-ignore: decorator
@inline
function isWord(p: usize, length: u32, word: usize, wordLength: u32): bool {
  return length == wordLength && memory.compare(p, word, wordLength) == 0
}

const W_MALLOC: usize = memory.data<u8>([0x6d, 0x61, 0x6c, 0x6c, 0x6f, 0x63])
const W_CALLOC: usize = memory.data<u8>([0x63, 0x61, 0x6c, 0x6c, 0x6f, 0x63])
const W_REALLOC: usize = memory.data<u8>([0x72, 0x65, 0x61, 0x6c, 0x6c, 0x6f, 0x63])
const W_REALLOCF: usize = memory.data<u8>([0x72, 0x65, 0x61, 0x6c, 0x6c, 0x6f, 0x63, 0x66])
const W_REALLOCARRAY: usize = memory.data<u8>([0x72, 0x65, 0x61, 0x6c, 0x6c, 0x6f, 0x63, 0x61, 0x72, 0x72, 0x61, 0x79])
const W_MEMALIGN: usize = memory.data<u8>([0x6d, 0x65, 0x6d, 0x61, 0x6c, 0x69, 0x67, 0x6e])
const W_POSIX_MEMALIGN: usize = memory.data<u8>([
  0x70, 0x6f, 0x73, 0x69, 0x78, 0x5f, 0x6d, 0x65, 0x6d, 0x61, 0x6c, 0x69, 0x67, 0x6e,
])
const W_ALIGNED_ALLOC: usize = memory.data<u8>([
  0x61, 0x6c, 0x69, 0x67, 0x6e, 0x65, 0x64, 0x5f, 0x61, 0x6c, 0x6c, 0x6f, 0x63,
])
export const W_VALLOC: usize = memory.data<u8>([0x76, 0x61, 0x6c, 0x6c, 0x6f, 0x63])
const W_FREE: usize = memory.data<u8>([0x66, 0x72, 0x65, 0x65])
const W_CFREE: usize = memory.data<u8>([0x63, 0x66, 0x72, 0x65, 0x65])
const W_FREE_SIZED: usize = memory.data<u8>([0x66, 0x72, 0x65, 0x65, 0x5f, 0x73, 0x69, 0x7a, 0x65, 0x64])
const W_FREE_ALIGNED_SIZED: usize = memory.data<u8>([
  0x66, 0x72, 0x65, 0x65, 0x5f, 0x61, 0x6c, 0x69, 0x67, 0x6e, 0x65, 0x64, 0x5f, 0x73, 0x69, 0x7a, 0x65, 0x64,
])
const W_BUILTIN_NEW: usize = memory.data<u8>([0x62, 0x75, 0x69, 0x6c, 0x74, 0x69, 0x6e, 0x5f, 0x6e, 0x65, 0x77])
const W_BUILTIN_DELETE: usize = memory.data<u8>([
  0x62, 0x75, 0x69, 0x6c, 0x74, 0x69, 0x6e, 0x5f, 0x64, 0x65, 0x6c, 0x65, 0x74, 0x65,
])
const W_BUILTIN_VEC_NEW: usize = memory.data<u8>([
  0x62, 0x75, 0x69, 0x6c, 0x74, 0x69, 0x6e, 0x5f, 0x76, 0x65, 0x63, 0x5f, 0x6e, 0x65, 0x77,
])
const W_BUILTIN_VEC_DELETE: usize = memory.data<u8>([
  0x62, 0x75, 0x69, 0x6c, 0x74, 0x69, 0x6e, 0x5f, 0x76, 0x65, 0x63, 0x5f, 0x64, 0x65, 0x6c, 0x65, 0x74, 0x65,
])
const W_PVALLOC: usize = memory.data<u8>([0x70, 0x76, 0x61, 0x6c, 0x6c, 0x6f, 0x63])
const W_STRDUP: usize = memory.data<u8>([0x73, 0x74, 0x72, 0x64, 0x75, 0x70])
const W_STRNDUP: usize = memory.data<u8>([0x73, 0x74, 0x72, 0x6e, 0x64, 0x75, 0x70])
const W_OPERATOR_NEW: usize = memory.data<u8>([0x6f, 0x70, 0x65, 0x72, 0x61, 0x74, 0x6f, 0x72, 0x20, 0x6e, 0x65, 0x77])
const W_OPERATOR_DELETE: usize = memory.data<u8>([
  0x6f, 0x70, 0x65, 0x72, 0x61, 0x74, 0x6f, 0x72, 0x20, 0x64, 0x65, 0x6c, 0x65, 0x74, 0x65,
])
/** The letters after the first five in names such as `_ZnwmSt11align_val_t`. */
export const W_ALIGNED: usize = memory.data<u8>([0x53, 0x74, 0x31, 0x31, 0x61, 0x6c, 0x69, 0x67, 0x6e])

/** The effect of a function. */
export function functionOf(p: usize, length: u32): u32 {
  const word = load<u32>(p)
  if (isWord(p, length, W_FREE, 4)) return FREE
  if (isWord(p, length, W_MALLOC, 6)) return MALLOC
  if (isWord(p, length, W_REALLOC, 7)) return REALLOC
  if (isWord(p, length, W_CALLOC, 6)) return CALLOC
  if ((word & 0xff_ffff) == 0x6e_5a5f) {
    // _Znwm, _Znam, _Znwj, _Znaj and their continuations
    return length >= 5 ? NEW : OTHER
  }
  if (word == 0x6c64_5a5f || word == 0x6164_5a5f) return DELETE
  if (isWord(p, length, W_MEMALIGN, 8)) return MEMALIGN
  if (isWord(p, length, W_POSIX_MEMALIGN, 14)) return MEMALIGN
  if (isWord(p, length, W_ALIGNED_ALLOC, 13)) return MEMALIGN
  if (isWord(p, length, W_REALLOCARRAY, 12)) return REALLOCARRAY
  if (isWord(p, length, W_REALLOCF, 8)) return REALLOC
  if (isWord(p, length, W_VALLOC, 6) || isWord(p, length, W_PVALLOC, 7)) return MALLOC
  if (isWord(p, length, W_STRDUP, 6) || isWord(p, length, W_STRNDUP, 7)) return NAMED
  if (isWord(p, length, W_CFREE, 5)) return FREE
  if (isWord(p, length, W_FREE_SIZED, 10) || isWord(p, length, W_FREE_ALIGNED_SIZED, 18)) return FREE
  if (load<u16>(p) == 0x5f5f && length > 2) {
    p += 2
    length -= 2
  }
  if (isWord(p, length, W_BUILTIN_NEW, 11) || isWord(p, length, W_BUILTIN_VEC_NEW, 15)) return NEW
  if (isWord(p, length, W_BUILTIN_DELETE, 14) || isWord(p, length, W_BUILTIN_VEC_DELETE, 18)) return DELETE
  if (length > 12 && memory.compare(p, W_OPERATOR_NEW, 12) == 0) return NEW
  if (length > 15 && memory.compare(p, W_OPERATOR_DELETE, 15) == 0) return DELETE
  return OTHER
}

/**
 * Writes the kind, function, sizes and addresses of a call as event `i`.
 * @param values its arguments; for aligned calls, the alignment is the first
 * @returns the set of its fields
 */
export function putCall(i: u32, call: u32, count: u32, values: usize, name: usize, length: u32, result: u64): u32 {
  const wide = (<usize>i) << 3
  const first = load<u64>(values)
  const second = load<u64>(values, 8)
  let set: u32 = Event.HAS_API
  let api: u8 = Event.API_MALLOC
  let isPlain = true
  if (call == FREE || call == DELETE) {
    store<u8>(KIND + i, Event.KIND_FREE)
    api = call == FREE ? Event.API_FREE : Event.API_DELETE
    isPlain = call == FREE && length == 4
    store<u64>(ADDRESS + wide, first)
    set |= Event.HAS_ADDRESS
  } else {
    store<u64>(ADDRESS + wide, result)
    set |= Event.HAS_ADDRESS | Event.HAS_SIZE
    store<u8>(KIND + i, Event.KIND_ALLOC)
    let size = first
    if (call == CALLOC || call == REALLOCARRAY) {
      api = Event.API_CALLOC
      isPlain = length == 6
      const elements = call == CALLOC ? first : second
      const each = call == CALLOC ? second : load<u64>(values, 16)
      size = elements * each
      store<u64>(ELEMENTS + wide, elements)
      set |= Event.HAS_COUNT
      // The size of an element is kept if it does not follow from the product.
      if (elements == 0 || each > u64.MAX_VALUE / elements) {
        store<u64>(ELEMENT_SIZE + wide, each)
        set |= Event.HAS_ELEMENT_SIZE
      }
    } else if (call == MEMALIGN || (call == NEW && count >= 2)) {
      api = call == NEW ? Event.API_NEW : Event.API_MEMALIGN
      isPlain = call == MEMALIGN && length == 8
      store<u64>(ALIGNMENT + wide, first)
      size = second
      set |= Event.HAS_ALIGNMENT
    } else if (call == NEW) {
      api = Event.API_NEW
      isPlain = false
    } else if (call == NAMED) {
      isPlain = false
      set &= ~Event.HAS_SIZE
    } else if (call == MALLOC) {
      isPlain = length == 6 && load<u8>(name) == 0x6d
    }
    if (call == REALLOC || call == REALLOCARRAY) {
      api = Event.API_REALLOC
      isPlain = length == 7
      store<u8>(KIND + i, Event.KIND_REALLOC)
      store<u64>(OLD_ADDRESS + wide, first)
      set |= Event.HAS_OLD_ADDRESS
      if (call == REALLOC) size = second
    }
    store<u64>(SIZE + wide, size)
  }
  store<u8>(API + i, api)
  if (!isPlain) {
    store<u32>(FIELDS + ((<usize>i) << 2), calledText(name, length))
    set |= Event.HAS_FIELDS
  }
  return set
}

/**
 * Makes event `i` one whose block the log has lost, because it does not say where it is.
 * @returns the set of its fields
 */
export function lose(i: u32, set: u32): u32 {
  store<u8>(KIND + i, Event.KIND_LOST)
  store<u64>(ELEMENTS + ((<usize>i) << 3), 1)
  return (set & ~Event.HAS_ADDRESS) | Event.HAS_COUNT
}

/** `{"call":"` and the end of the object. */
const JSON_TEXT: usize = memory.data<u8>([0x7b, 0x22, 0x63, 0x61, 0x6c, 0x6c, 0x22, 0x3a, 0x22])
const ROOM: usize = memory.data(320)

/** The id of `{"call":"NAME"}`. The name has up to 255 bytes, none of which needs an escape. */
function calledText(name: usize, length: u32): u32 {
  memory.copy(ROOM, JSON_TEXT, 9)
  memory.copy(ROOM + 9, name, length)
  store<u16>(ROOM + 9 + length, 0x7d22)
  return intern(ROOM, length + 11)
}
