/**
 * mpatrol tracing output: records to columns, and columns to records. See lib/formats/mtrc. An instance belongs to one
 * decoder or one encoder: it keeps the blocks that are live and the names in the format's caches.
 */

import {
  ADDRESS,
  FILE,
  FUNCTION,
  INDEX,
  KIND,
  LINE,
  MASK,
  OLD_ADDRESS,
  OUTCOME,
  SIZE,
  THREAD,
  TYPE,
} from './shared/columns'
import {
  HAS_ADDRESS,
  HAS_FILE,
  HAS_FUNCTION,
  HAS_INDEX,
  HAS_LINE,
  HAS_OLD_ADDRESS,
  HAS_OUTCOME,
  HAS_SIZE,
  HAS_THREAD,
  HAS_TYPE,
  KIND_ALLOC,
  KIND_EXISTING,
  KIND_FREE,
  KIND_REALLOC,
  KIND_RESERVE,
  OUTCOME_ALLOCATED,
  OUTCOME_FREED,
  OUTCOME_NONE,
} from './shared/event'
import { gather, lebEnds, lebLength, lebValue, OF_1, OF_3, OF_7, writeLeb } from './shared/leb128'
import {
  areManyNames,
  forgetOthers,
  intern,
  MOST_NAMES,
  nameLength,
  nameRoom,
  names,
  nameStart,
  seedNames,
} from './shared/names'
import { add, clearTable, entryAt, find, FIRST, remove, SECOND, seedTable } from './shared/table'

export {
  ADDRESS,
  FILE,
  FUNCTION,
  INDEX,
  KIND,
  LINE,
  MASK,
  nameLength,
  nameStart,
  OLD_ADDRESS,
  OUTCOME,
  SIZE,
  THREAD,
  TYPE,
}

const INPUT_BYTES: usize = 262_144
/** Where records are read: behind them there is room for what is looked at beyond a record. */
export const INPUT: usize = memory.data(262_912)
/** Where records are written. An instance does one or the other. */
export const OUTPUT: usize = INPUT
/** Zeros that are read where nothing can be read: numbers of 0 and no names. They lie behind any input. */
const NOWHERE: usize = INPUT + INPUT_BYTES + 256

/** Records are written as long as there are no more bytes than this; the last one may take twice 64 KiB. */
const OUTPUT_BYTES: usize = 131_072

const A: u8 = 0x41
const F: u8 = 0x46
const H: u8 = 0x48
const I: u8 = 0x49
const M: u8 = 0x4d
const R: u8 = 0x52

const MAX_LEB: usize = 32
const MAX_NAME: usize = 65_536
const NAME_ENTRIES: u32 = 32
const NAME_DEFINES: u8 = 0x80
/** A record without names ends within so many bytes from where it, or a name in it, begins. */
const PADDING: usize = 176
/** A batch is closed when its names take this many bytes. */
const BATCH_STRING_BYTES: u32 = 262_144

const BLOCK: u32 = HAS_INDEX | HAS_ADDRESS | HAS_SIZE

/** Addresses are mostly multiples of 16. */
const ADDRESS_SHIFT: u64 = 4

/** Records have thread, function, file and line. */
let sources: bool = false
/** Frees and reallocations get what their index refers to. */
let resolve: bool = false

/** `internal`, the type of the memory that mpatrol takes for itself. */
const INTERNAL: usize = memory.data<u8>([0x69, 0x6e, 0x74, 0x65, 0x72, 0x6e, 0x61, 0x6c, 0, 0, 0, 0, 0, 0, 0, 0])

/**
 * By entry of the caches, of functions and then of files, a name's number and 1, or 0: not defined. Entry 0 is not
 * used.
 */
const ENTRIES: usize = memory.data(264)
const FILE_ENTRIES: usize = ENTRIES + 132
/** By name's number, when it came into a batch (high half), and what it has there (low half): its id when reading. */
const IN_BATCH: usize = memory.data(32_768)
/** The batch, or the time since names were numbered, that `IN_BATCH` speaks of. */
let now: u32 = 0

/** Chosen at random, so that nobody knows how hashes fall. */
export function seed(value: u32): void {
  seedTable(value)
  seedNames(value)
  indexMark = (<u64>value * 0x9e37_79b9_7f4a_7c15) | ((<u64>1) << 63)
}

/** Another trace begins. @returns whether there is memory */
export function begin(hasSources: bool, resolves: bool, byAddress: bool): bool {
  sources = hasSources
  resolve = resolves
  memory.fill(ENTRIES, 0, 264)
  memory.fill(ENTRY_OF, 0, 2 * MOST_NAMES)
  memory.fill(USE, 0, 160)
  usedFunctions = 0
  usedFiles = 0
  lastIndex = 0
  firstAssigned = u64.MAX_VALUE
  lastAssigned = 0
  return clearTable(byAddress ? ADDRESS_SHIFT : 0)
}

/** Forgets the names that are in no cache. */
function forget(): void {
  forgetOthers(ENTRIES, ENTRIES + 264)
  now++
}

// Reading.

/** What `decode` stopped at: the input ended, the batch is full, an `M` stands where a record begins, or a fault. */
const SHORT: i32 = 0
const FULL: i32 = 1
const MARK: i32 = 2
const FAULT: i32 = 3

const NUMBER_TOO_WIDE: i32 = 1
const NUMBER_TOO_LONG: i32 = 2
const LINE_TOO_LARGE: i32 = 3
const NO_SUCH_ENTRY: i32 = 4
const ENTRY_UNDEFINED: i32 = 5
const NAME_TOO_LONG: i32 = 6
const UNKNOWN_TYPE: i32 = 7
const NO_MEMORY: i32 = 8

/** Why `decode` returned. */
export let stop: i32 = SHORT
/** What is wrong with the record at `position`. */
export let fault: i32 = 0
/** The first byte that was not read. */
export let position: usize = 0
/** The fields of all events together. */
export let fields: u32 = 0
/** How many names the batch has. Their ids are below it. */
export let nameCount: u32 = 0
/** By id, the number of a batch's name. */
const BATCH_NAMES: usize = memory.data(16_384)
let nameBytes: u32 = 0

/** By entry, its name's id in the batch, or all bits set where that is not known. */
const FUNCTION_IDS: usize = memory.data(264)
const FILE_IDS: usize = FUNCTION_IDS + 132
const UNKNOWN: u32 = 0xffff_ffff

/** The number of the batch's name with this id. */
export function nameOf(id: u32): u32 {
  return load<u32>(BATCH_NAMES + ((<usize>id) << 2))
}

/**
 * Reads a number. Where none can be read, `fault` says why, and reading goes on where there are zeros.
 * @param usual how many bytes most numbers of its kind take: some of `OF_1`, `OF_3` and `OF_7`, or 0 if nobody can say.
 *   What follows one that is as long can be read before that is known: the processor guesses which branch comes, but
 *   would wait for a sum.
 */
// @ts-ignore: decorator
@inline
function leb(p: usize, to: usize, usual: u32): usize {
  const word = load<u64>(p)
  if ((usual & OF_1) != 0 && (word & 0x80) == 0) {
    store<u64>(to, word & 0x7f)
    return p + 1
  }
  if ((usual & OF_3) != 0 && (word & 0x80_8080) == 0x8080) {
    store<u64>(to, (word & 0x7f) | ((word >> 1) & 0x3f80) | ((word >> 2) & 0x1f_c000))
    return p + 3
  }
  if ((usual & OF_7) != 0 && (word & 0x80_8080_8080_8080) == 0x8080_8080_8080) {
    store<u64>(to, gather(word & 0x7f_7f7f_7f7f_7f7f))
    return p + 7
  }
  const ends = lebEnds(word)
  if (ends == 0) return longLeb(p, to)
  store<u64>(to, lebValue(word, ends))
  return p + lebLength(ends)
}

/** A number of nine bytes or more. */
function longLeb(start: usize, to: usize): usize {
  let value = gather(load<u64>(start) & 0x7f7f_7f7f_7f7f_7f7f)
  let p = start + 8
  const ninth = <u64>load<u8>(p++)
  value |= (ninth & 0x7f) << 56
  if (ninth >= 0x80) {
    const tenth = <u64>load<u8>(p++)
    if ((tenth & 0x7f) > 1) return nowhere(NUMBER_TOO_WIDE)
    value |= tenth << 63
    // What comes then is padding.
    for (let last = tenth; last >= 0x80;) {
      if (p == start + MAX_LEB) return nowhere(NUMBER_TOO_LONG)
      last = <u64>load<u8>(p++)
      if ((last & 0x7f) != 0) return nowhere(NUMBER_TOO_WIDE)
    }
  }
  store<u64>(to, value)
  return p
}

function nowhere(reason: i32): usize {
  fault = reason
  return NOWHERE
}

/** Reads a name's entry that is not 0, its id in the batch to a column. */
// @ts-ignore: decorator
@inline
function name(p: usize, end: usize, entry: u32, ids: usize, entries: usize, to: usize): usize {
  const id = entry <= NAME_ENTRIES ? load<u32>(ids + ((<usize>entry) << 2)) : UNKNOWN
  if (id == UNKNOWN) return newName(p, end, ids, entries, to)
  store<u32>(to, id)
  return p + 1
}

/** A name that is defined here, or new in the batch. */
function newName(p: usize, end: usize, ids: usize, entries: usize, to: usize): usize {
  const byte = load<u8>(p)
  const entry = (<usize>(byte & ~NAME_DEFINES)) << 2
  if (entry < 4 || entry > NAME_ENTRIES << 2) return nowhere(NO_SUCH_ENTRY)
  let reference = load<u32>(entries + entry)
  p++
  if (byte >= NAME_DEFINES) {
    const most = min<usize>(end, p + MAX_NAME + 1)
    const nul = findNul(p, most)
    if (nul == most) return nul - p > MAX_NAME ? nowhere(NAME_TOO_LONG) : NOWHERE
    if (nameRoom(nul - p) == 0) return nowhere(NO_MEMORY)
    reference = intern(p, nul - p) + 1
    store<u32>(entries + entry, reference)
    p = nul + 1
  }
  if (reference == 0) return nowhere(ENTRY_UNDEFINED)
  const id = idOf(reference - 1)
  store<u32>(ids + entry, id)
  store<u32>(to, id)
  return p
}

/** The first zero byte from p on, or `end`. */
function findNul(p: usize, end: usize): usize {
  for (; p < end; p += 8) {
    const word = load<u64>(p)
    const zeros = (word - 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    if (zeros != 0) return min<usize>(end, p + <usize>(ctz(zeros) >> 3))
  }
  return end
}

/** A name's id in the batch. */
function idOf(name: u32): u32 {
  const at = IN_BATCH + ((<usize>name) << 3)
  if (load<u32>(at, 4) == now) return load<u32>(at)
  const id = nameCount++
  store<u32>(at, id)
  store<u32>(at, now, 4)
  store<u32>(BATCH_NAMES + ((<usize>id) << 2), name)
  nameBytes += nameLength(name)
  return id
}

/**
 * Reads whole records from `p` to `end`, until there are `capacity` events or something stops it (`stop`).
 * @returns how many events were read
 */
export function decode(p: usize, end: usize, capacity: u32): u32 {
  const withSources = sources
  const resolves = resolve
  // Any number that the end cuts off comes to an end in zeros.
  memory.fill(end, 0, PADDING)
  if (areManyNames()) forget()
  now++
  memory.fill(FUNCTION_IDS, 0xff, 264)
  nameCount = 0
  nameBytes = 0
  fault = 0
  stop = SHORT
  let all: u32 = 0
  let i: u32 = 0
  let start = p
  while (start < end) {
    if (i >= capacity) {
      stop = FULL
      break
    }
    const type = load<u8>(start)
    const wide = (<usize>i) << 3
    let set = BLOCK
    p = start + 1
    if (type == F) {
      p = leb(p, INDEX + wide, OF_3)
      set = HAS_INDEX
    } else if (type == A || type == R) {
      p = leb(p, INDEX + wide, OF_3)
      p = leb(p, ADDRESS + wide, OF_7)
      p = leb(p, SIZE + wide, 0)
    } else if (type == H || type == I) {
      p = leb(p, ADDRESS + wide, OF_7)
      p = leb(p, SIZE + wide, 0)
      set = HAS_ADDRESS | HAS_SIZE
    } else if (type == M) {
      stop = MARK
      break
    } else {
      fault = UNKNOWN_TYPE
      stop = FAULT
      break
    }
    if (withSources && (set & HAS_INDEX) != 0) {
      set |= HAS_THREAD | HAS_LINE
      if (load<u32>(p) == 0) {
        // Frees mostly have no source.
        store<u64>(wide, 0, THREAD)
        store<u32>((<usize>i) << 2, 0, LINE)
        p += 4
      } else {
        p = leb(p, THREAD + wide, OF_1 | OF_3)
        if ((load<u32>(p) & 0xff_ffff) == 0) {
          // Nor has any record of a program without the names of its functions.
          store<u32>((<usize>i) << 2, 0, LINE)
          p += 3
        } else {
          const caller = <u32>load<u8>(p)
          if (caller == 0) {
            p++
          } else {
            p = name(p, end, caller, FUNCTION_IDS, ENTRIES, FUNCTION + ((<usize>i) << 2))
            set |= HAS_FUNCTION
          }
          const file = <u32>load<u8>(p)
          if (file == 0) {
            p++
          } else {
            p = name(p, end, file, FILE_IDS, FILE_ENTRIES, FILE + ((<usize>i) << 2))
            set |= HAS_FILE
          }
          p = leb(p, LINE_READ, 0)
          const line = load<u64>(LINE_READ)
          // A number that runs beyond the end may have more bits than it seems, so it is not judged yet.
          if (line >> 32 != 0 && p <= end) p = nowhere(LINE_TOO_LARGE)
          store<u32>((<usize>i) << 2, <u32>line, LINE)
        }
        if (nameBytes > BATCH_STRING_BYTES || names > MOST_NAMES - 4) capacity = i + 1
      }
    }
    if (p > end) {
      if (fault != 0) stop = FAULT
      break
    }
    if (type == F) {
      store<u8>(i, KIND_FREE, KIND)
      if (resolves) {
        const block = find(load<u64>(wide, INDEX))
        if (block != 0) {
          store<u64>(wide, load<u64>(entryAt(block), FIRST), ADDRESS)
          store<u64>(wide, load<u64>(entryAt(block), SECOND), SIZE)
          remove(block)
          set |= HAS_ADDRESS | HAS_SIZE
        }
      }
    } else if (type == A || type == R) {
      store<u8>(i, type == A ? KIND_ALLOC : KIND_REALLOC, KIND)
      if (resolves) {
        const index = load<u64>(wide, INDEX)
        let block: usize = 0
        if (type == R) {
          block = find(index)
          if (block != 0) {
            store<u64>(wide, load<u64>(entryAt(block), FIRST), OLD_ADDRESS)
            set |= HAS_OLD_ADDRESS
          }
        }
        if (block == 0) {
          block = add(index)
          if (block == 0) {
            fault = NO_MEMORY
            stop = FAULT
            break
          }
        }
        store<u64>(entryAt(block), load<u64>(wide, ADDRESS), FIRST)
        store<u64>(entryAt(block), load<u64>(wide, SIZE), SECOND)
      }
    } else {
      store<u8>(i, KIND_RESERVE, KIND)
      if (type == I) {
        if (nameRoom(8) == 0) {
          fault = NO_MEMORY
          stop = FAULT
          break
        }
        store<u32>((<usize>i) << 2, idOf(intern(INTERNAL, 8)), TYPE)
        set |= HAS_TYPE
      }
    }
    store<u32>((<usize>i) << 2, set, MASK)
    all |= set
    i++
    start = p
  }
  position = start
  fields = all
  return i
}

/** Where a line number is read to. */
const LINE_READ: usize = memory.data(8, 8)

// Writing.

/**
 * What is to be said of an event that was written, changed or left out, as a set. The wrapper has the words, and notes
 * them in this order.
 */
const OTHER_TYPE: u32 = 1 << 0
const EXISTING_AS_ALLOC: u32 = 1 << 1
const ALLOC_NOWHERE: u32 = 1 << 2
const FREE_OF_NULL: u32 = 1 << 3
const FREE_OF_UNKNOWN: u32 = 1 << 4
const NULL_TO_NULL: u32 = 1 << 5
const REALLOC_OF_NULL: u32 = 1 << 6
const REALLOC_FAILED: u32 = 1 << 7
const REALLOC_TO_NOTHING: u32 = 1 << 8
const REALLOC_OF_UNKNOWN: u32 = 1 << 9
const NO_ADDRESS: u32 = 1 << 10
const NO_SIZE: u32 = 1 << 11
const NO_INDEX_LEFT: u32 = 1 << 12
const INDEX_OF_OTHER: u32 = 1 << 13
const ADDRESS_OF_UNKNOWN: u32 = 1 << 14
const SIZE_OF_UNKNOWN: u32 = 1 << 15
const OLD_ADDRESS_OF_UNKNOWN: u32 = 1 << 16
const OTHER_ADDRESS: u32 = 1 << 17
const OTHER_SIZE: u32 = 1 << 18
const OTHER_OLD_ADDRESS: u32 = 1 << 19
const UNFIT_FUNCTION: u32 = 1 << 20
const UNFIT_FILE: u32 = 1 << 21

/** How many bytes there are in `OUTPUT`: the wrapper takes them and sets this to 0. */
export let written: usize = 0
/** What could not be said of the last event that was looked at: a set, usually empty. */
export let notes: u32 = 0
/** How many bytes of output there were before that event's record. */
export let recordStart: usize = 0
/** The id of the string that the next event needs, to be given by `define` or `refuse`; or -1. */
export let wanted: i32 = -1
/** There is no memory for what the next event needs. */
export let isFull: bool = false

/** By name's number, its entry in the cache of functions, then in that of files, or 0. */
const ENTRY_OF: usize = memory.data(8_192)
const FILE_ENTRY_OF: usize = ENTRY_OF + MOST_NAMES
/**
 * LRU order of the two name caches as circular doubly linked lists: `[entry]` is the next older entry, `[entry +
 * NEWER]` the next newer. Entry 0 is the sentinel.
 */
const USE: usize = memory.data(160)
const FILE_USE: usize = USE + 80
const NEWER: usize = 40
let usedFunctions: u32 = 0
let usedFiles: u32 = 0

/** By hash of a batch's string id, the id (low half) and when it came (high half), and the name's number. */
const IDS: u32 = 8192
const STRINGS: usize = memory.data(65_536)
const NUMBERS: usize = memory.data(32_768)
let stringCount: u32 = 0
/** The number of a string that has no place in a trace. */
const UNFIT: u32 = 0xffff_ffff

/** The largest index so far: the next block without one gets the number after it. */
let lastIndex: u64 = 0
/** The first and the last index that a block without one got. */
let firstAssigned: u64 = u64.MAX_VALUE
let lastAssigned: u64 = 0
/**
 * The table has two sorts of keys: addresses of blocks that came without an index, with that index and the size, and
 * indices that events brought, with address and size. The latter are told apart by bits that a trace cannot know.
 */
let indexMark: u64 = 0

export function setWritten(bytes: usize): void {
  written = bytes
}

/** Another batch, with strings of its own, begins. */
export function beginBatch(): void {
  if (areManyNames()) forgetAll()
  now++
  stringCount = 0
}

/** Forgets the names that are in no cache, and what the batch's strings are. */
function forgetAll(): void {
  forget()
  stringCount = 0
  memory.fill(ENTRY_OF, 0, 2 * MOST_NAMES)
  for (let entry: u32 = 1; entry <= NAME_ENTRIES; entry++) {
    const caller = load<u32>(ENTRIES + ((<usize>entry) << 2))
    if (caller != 0) store<u8>(ENTRY_OF + caller - 1, <u8>entry)
    const file = load<u32>(FILE_ENTRIES + ((<usize>entry) << 2))
    if (file != 0) store<u8>(FILE_ENTRY_OF + file - 1, <u8>entry)
  }
}

/** Where to put the bytes of the string that is wanted, or 0: there is no memory. */
export function room(length: u32): usize {
  if (names > MOST_NAMES - 4 || stringCount >= IDS / 2) forgetAll()
  return nameRoom(length)
}

/** The string that was wanted lies where `room` said. */
export function define(length: u32): void {
  setNumber(intern(nameRoom(length), length))
}

/** The string that was wanted has no place in a trace. */
export function refuse(): void {
  if (stringCount >= IDS / 2) forgetAll()
  setNumber(UNFIT)
}

function setNumber(number: u32): void {
  const entry = ((<u64>now) << 32) | (<u64>(<u32>wanted))
  let slot = (<u32>wanted) & (IDS - 1)
  while (<u32>(load<u64>(STRINGS + ((<usize>slot) << 3)) >> 32) == now) slot = (slot + 1) & (IDS - 1)
  store<u64>(STRINGS + ((<usize>slot) << 3), entry)
  store<u32>(NUMBERS + ((<usize>slot) << 2), number)
  stringCount++
  wanted = -1
}

/** The slot of a batch's string, or -1. */
// @ts-ignore: decorator
@inline
function slotOf(id: u32): i32 {
  const entry = ((<u64>now) << 32) | (<u64>id)
  const slot = id & (IDS - 1)
  return load<u64>(STRINGS + ((<usize>slot) << 3)) == entry ? <i32>slot : otherSlotOf(id, entry)
}

function otherSlotOf(id: u32, entry: u64): i32 {
  let slot = id & (IDS - 1)
  while (true) {
    const here = load<u64>(STRINGS + ((<usize>slot) << 3))
    if (here == entry) return <i32>slot
    if (<u32>(here >> 32) != now) return -1
    slot = (slot + 1) & (IDS - 1)
  }
}

// @ts-ignore: decorator
@inline
function numberAt(slot: i32): u32 {
  return load<u32>(NUMBERS + ((<usize>slot) << 2))
}

/**
 * Encodes events `i..n`. Stops early when the output buffer is nearly full, a string is needed (`wanted`), memory runs
 * out (`isFull`), or an event has `notes`; it is then the last one encoded.
 * @returns the first event that was not looked at
 */
export function encode(i: u32, n: u32): u32 {
  const withSources = sources
  const limit = OUTPUT + OUTPUT_BYTES
  let p = OUTPUT + written
  let start = p
  let said: u32 = 0
  let largest = lastIndex
  for (; i < n && p < limit; i++) {
    const set = load<u32>((<usize>i) << 2, MASK)
    const kind = load<u8>(i, KIND)
    const wide = (<usize>i) << 3
    let type: u8 = 0
    let index: u64 = 0
    let caller: u32 = 0
    let file: u32 = 0
    start = p
    if (kind == KIND_RESERVE) {
      type = H
      if ((set & HAS_TYPE) != 0) {
        const id = load<u32>((<usize>i) << 2, TYPE)
        const slot = slotOf(id)
        if (slot < 0) {
          wanted = id
          break
        }
        if (isInternal(numberAt(slot))) type = I
        else said = OTHER_TYPE
      }
      store<u8>(p++, type)
    } else {
      if (kind > KIND_EXISTING) {
        if ((set & HAS_INDEX) != 0) largest = max<u64>(largest, load<u64>(wide, INDEX))
        continue
      }
      if (withSources) {
        // Names are looked for first, while nothing has changed yet.
        if ((set & HAS_FUNCTION) != 0) {
          const id = load<u32>((<usize>i) << 2, FUNCTION)
          const slot = slotOf(id)
          if (slot < 0) {
            wanted = id
            break
          }
          caller = numberAt(slot)
        }
        if ((set & HAS_FILE) != 0) {
          const id = load<u32>((<usize>i) << 2, FILE)
          const slot = slotOf(id)
          if (slot < 0) {
            wanted = id
            break
          }
          file = numberAt(slot)
        }
      }
      if ((set & HAS_INDEX) != 0) {
        type = kind == KIND_FREE ? F : kind == KIND_REALLOC ? R : A
        index = load<u64>(wide, INDEX)
        said = type == F ? endIndexed(index, set, wide) : beginIndexed(index, kind, set, wide)
        if (isFull) break
        largest = max<u64>(largest, index)
      } else {
        lastIndex = largest
        notes = 0
        type = assign(i, kind, set)
        largest = lastIndex
        said = notes
        if (type == 0) {
          if (!isFull) i++
          break
        }
        index = assigned
      }
      store<u8>(p, type)
      p = writeLeb(p + 1, index, OF_3)
    }
    if (type != F) {
      if ((set & HAS_ADDRESS) != 0) {
        p = writeLeb(p, load<u64>(wide, ADDRESS), OF_7)
      } else {
        store<u8>(p++, 0)
        said |= NO_ADDRESS
      }
      if ((set & HAS_SIZE) != 0) {
        p = writeLeb(p, load<u64>(wide, SIZE), 0)
      } else {
        store<u8>(p++, 0)
        said |= NO_SIZE
      }
    }
    if (withSources && kind != KIND_RESERVE) {
      const thread: u64 = (set & HAS_THREAD) != 0 ? load<u64>(wide, THREAD) : 0
      const line: u64 = (set & HAS_LINE) != 0 ? load<u32>((<usize>i) << 2, LINE) : 0
      const source = line | (set & (HAS_FUNCTION | HAS_FILE))
      if ((thread | source) == 0) {
        store<u32>(p, 0)
        p += 4
      } else if (source == 0) {
        p = writeLeb(p, thread, OF_3)
        store<u32>(p, 0)
        p += 3
      } else {
        if (thread < 0x80) store<u8>(p++, <u8>thread)
        else p = writeLeb(p, thread, OF_3)
        if ((set & HAS_FUNCTION) == 0) {
          store<u8>(p++, 0)
        } else if (caller == UNFIT) {
          store<u8>(p++, 0)
          said |= UNFIT_FUNCTION
        } else {
          p = writeName(p, caller, ENTRIES, ENTRY_OF, USE)
        }
        if ((set & HAS_FILE) == 0) {
          store<u8>(p++, 0)
        } else if (file == UNFIT) {
          store<u8>(p++, 0)
          said |= UNFIT_FILE
        } else {
          p = writeName(p, file, FILE_ENTRIES, FILE_ENTRY_OF, FILE_USE)
        }
        p = writeLeb(p, line, 0)
      }
    }
    if (said != 0) {
      i++
      break
    }
  }
  lastIndex = largest
  notes = said
  recordStart = start - OUTPUT
  written = p - OUTPUT
  return i
}

/** Whether an index that an event brought may be one that a block without an index got. */
// @ts-ignore: decorator
@inline
function isAssigned(index: u64): bool {
  return index >= firstAssigned && index <= lastAssigned
}

/**
 * Notes the block that an alloc or realloc with an index makes. The decoder will give a free of this index its address
 * and size, and the next realloc of it this address.
 * @returns what is to be said of the event
 */
// @ts-ignore: decorator
@inline
function beginIndexed(index: u64, kind: u8, set: u32, wide: usize): u32 {
  let said: u32 = kind == KIND_EXISTING ? EXISTING_AS_ALLOC : 0
  if (kind == KIND_REALLOC) said = checkOldAddress(index, set, wide)
  else if (isAssigned(index)) said |= INDEX_OF_OTHER
  const block = add(index ^ indexMark)
  if (block == 0) {
    isFull = true
    return 0
  }
  store<u64>(entryAt(block), (set & HAS_ADDRESS) != 0 ? load<u64>(wide, ADDRESS) : 0, FIRST)
  store<u64>(entryAt(block), (set & HAS_SIZE) != 0 ? load<u64>(wide, SIZE) : 0, SECOND)
  return said
}

/** Compares the old address of a realloc with an index with that of the block. */
function checkOldAddress(index: u64, set: u32, wide: usize): u32 {
  const block = find(index ^ indexMark)
  if (block == 0) {
    return (isAssigned(index) ? INDEX_OF_OTHER : 0) | ((set & HAS_OLD_ADDRESS) != 0 ? OLD_ADDRESS_OF_UNKNOWN : 0)
  }
  const differs = (set & HAS_OLD_ADDRESS) != 0 && load<u64>(wide, OLD_ADDRESS) != load<u64>(entryAt(block), FIRST)
  return differs ? OTHER_OLD_ADDRESS : 0
}

const ADDRESS_AND_SIZE: u32 = HAS_ADDRESS | HAS_SIZE

/**
 * Forgets the block that a free with an index ends.
 * @returns what is to be said of the event: its record has the index alone
 */
// @ts-ignore: decorator
@inline
function endIndexed(index: u64, set: u32, wide: usize): u32 {
  const block = find(index ^ indexMark)
  if (block == 0) return endUnknown(index, set)
  const differs =
    (load<u64>(wide, ADDRESS) ^ load<u64>(entryAt(block), FIRST)) |
    (load<u64>(wide, SIZE) ^ load<u64>(entryAt(block), SECOND))
  const said = differs != 0 && (set & ADDRESS_AND_SIZE) != 0 ? differencesOf(block, set, wide) : 0
  remove(block)
  return said
}

function endUnknown(index: u64, set: u32): u32 {
  return (
    (isAssigned(index) ? INDEX_OF_OTHER : 0) |
    ((set & HAS_ADDRESS) != 0 ? ADDRESS_OF_UNKNOWN : 0) |
    ((set & HAS_SIZE) != 0 ? SIZE_OF_UNKNOWN : 0)
  )
}

function differencesOf(block: usize, set: u32, wide: usize): u32 {
  const entry = entryAt(block)
  return (
    ((set & HAS_ADDRESS) != 0 && load<u64>(wide, ADDRESS) != load<u64>(entry, FIRST) ? OTHER_ADDRESS : 0) |
    ((set & HAS_SIZE) != 0 && load<u64>(wide, SIZE) != load<u64>(entry, SECOND) ? OTHER_SIZE : 0)
  )
}

/** Writes a name's entry, and the name itself when it gets one only now. Its entry becomes the one used last. */
// @ts-ignore: decorator
@inline
function writeName(p: usize, name: u32, entries: usize, entryOf: usize, use: usize): usize {
  const entry = load<u8>(entryOf + name)
  if (entry == 0) return defineName(p, name, entries, entryOf, use)
  takeOut(use, entry)
  putFirst(use, entry)
  store<u8>(p, entry)
  return p + 1
}

/** Gives a name the first entry that was never used, else the one used longest ago. */
function defineName(p: usize, name: u32, entries: usize, entryOf: usize, use: usize): usize {
  const isFunction = entries == ENTRIES
  let entry = <u8>(isFunction ? usedFunctions : usedFiles)
  if (entry < <u8>NAME_ENTRIES) {
    entry++
    if (isFunction) usedFunctions = entry
    else usedFiles = entry
  } else {
    entry = load<u8>(use, NEWER)
    takeOut(use, entry)
    store<u8>(entryOf + load<u32>(entries + ((<usize>entry) << 2)) - 1, 0)
  }
  putFirst(use, entry)
  store<u32>(entries + ((<usize>entry) << 2), name + 1)
  store<u8>(entryOf + name, entry)
  store<u8>(p, entry | NAME_DEFINES)
  const length = <usize>nameLength(name)
  // There is room behind either side, and names are short.
  const from = nameStart(name)
  for (let at: usize = 0; at < length; at += 16) v128.store(p + 1 + at, v128.load(from + at))
  store<u8>(p + 1 + length, 0)
  return p + length + 2
}

// @ts-ignore: decorator
@inline
function takeOut(use: usize, entry: u8): void {
  const older = load<u8>(use + entry)
  const newer = load<u8>(use + entry, NEWER)
  store<u8>(use + newer, older)
  store<u8>(use + older, newer, NEWER)
}

// @ts-ignore: decorator
@inline
function putFirst(use: usize, entry: u8): void {
  const second = load<u8>(use)
  store<u8>(use + entry, second)
  store<u8>(use + entry, 0, NEWER)
  store<u8>(use + second, entry, NEWER)
  store<u8>(use, entry)
}

function isInternal(name: u32): bool {
  return name != UNFIT && nameLength(name) == 8 && load<u64>(nameStart(name)) == load<u64>(INTERNAL)
}

/** Per event, what separates its address space from others, as `AddressSpaces.fill` gives it; used if `hasSpaces`. */
export const SPACES: usize = memory.data(16576)
let hasSpaces: bool = false
/** Of what `spaceOf` gives: the bits that belong in a key, and that which a function of a kernel has. */
const BY_KERNEL: u64 = 1 << 32
const SPACE: u64 = ~BY_KERNEL
/** Separates the pages of a kernel from its objects, as in lib/blocks/address-spaces.ts. */
const PAGE_BIT: u64 = 1 << 63

/** Whether the events of the batch are in several address spaces. */
export function setSpaces(are: bool): void {
  hasSpaces = are
}

/** The index that `assign` chose. */
let assigned: u64 = 0

/**
 * Finds the record for an alloc, existing, realloc or free without an index: 1, 2, 3 ... as blocks are made, and for
 * others that of the block at the address.
 * @returns the record's type, or 0: the event is left out, or there is no memory
 */
function assign(i: u32, kind: u8, set: u32): u8 {
  const wide = (<usize>i) << 3
  const space: u64 = hasSpaces ? spaceOf(i) : 0
  let address: u64 = (set & HAS_ADDRESS) != 0 ? load<u64>(wide, ADDRESS) : 0
  const sized = (set & HAS_SIZE) != 0
  const size: u64 = sized ? load<u64>(wide, SIZE) : 0
  if (kind == KIND_FREE) return assignFree(address, space, sized, size, 0)
  if (kind == KIND_ALLOC) return assignNew(address, space, size, 0)
  if (kind == KIND_EXISTING) return assignNew(address, space, size, EXISTING_AS_ALLOC)
  const told = (set & HAS_OUTCOME) != 0
  const outcome = load<u8>(i, OUTCOME)
  let old: u64 =
    (set & HAS_OLD_ADDRESS) != 0 && !(told && outcome == OUTCOME_ALLOCATED) ? load<u64>(wide, OLD_ADDRESS) : 0
  const stayed = told && outcome == OUTCOME_NONE
  if (stayed) {
    // One address is enough to say where the block stayed.
    if ((set & HAS_OLD_ADDRESS) == 0) old = address
    else if ((set & HAS_ADDRESS) == 0) address = old
  }
  const freed = told && outcome == OUTCOME_FREED
  if (old == 0) {
    if (address != 0 && !freed) return assignNew(address, space, size, REALLOC_OF_NULL)
    notes = NULL_TO_NULL
    return 0
  }
  if (address == 0 || freed) {
    // A null result for a size other than 0 means that there was no memory: the old block lives on.
    if (!freed && (size != 0 || stayed)) {
      notes = REALLOC_FAILED
      return 0
    }
    return assignFree(old, space, false, 0, REALLOC_TO_NOTHING)
  }
  const block = findPlaced(old, space)
  if (block == 0) return assignNew(address, space, size, REALLOC_OF_UNKNOWN)
  const index = load<u64>(entryAt(block), FIRST)
  remove(block)
  const moved = add(address ^ (space & SPACE))
  if (moved == 0) {
    isFull = true
    return 0
  }
  store<u64>(entryAt(moved), index, FIRST)
  store<u64>(entryAt(moved), size, SECOND)
  assigned = index
  return R
}

function assignNew(address: u64, space: u64, size: u64, note: u32): u8 {
  if (address == 0) {
    notes = ALLOC_NOWHERE
    return 0
  }
  if (lastIndex == u64.MAX_VALUE) {
    notes = NO_INDEX_LEFT
    return 0
  }
  const block = add(address ^ (space & SPACE))
  if (block == 0) {
    isFull = true
    return 0
  }
  notes = note
  assigned = ++lastIndex
  firstAssigned = min<u64>(firstAssigned, assigned)
  lastAssigned = assigned
  store<u64>(entryAt(block), assigned, FIRST)
  store<u64>(entryAt(block), size, SECOND)
  return A
}

function assignFree(address: u64, space: u64, sized: bool, size: u64, note: u32): u8 {
  if (address == 0) {
    notes = FREE_OF_NULL
    return 0
  }
  const block = findPlaced(address, space)
  if (block == 0) {
    notes = FREE_OF_UNKNOWN
    return 0
  }
  notes = sized && size != load<u64>(entryAt(block), SECOND) ? note | OTHER_SIZE : note
  assigned = load<u64>(entryAt(block), FIRST)
  remove(block)
  return F
}

// @ts-ignore: decorator
@inline
function spaceOf(i: u32): u64 {
  return (<u64>load<u32>((<usize>i) << 2, SPACES)) << 32
}

/** The block at an address in its space, or 0. A kernel may free pages as an object, or the reverse. */
// @ts-ignore: decorator
@inline
function findPlaced(address: u64, space: u64): usize {
  const key = address ^ (space & SPACE)
  const block = find(key)
  return block == 0 && (space & BY_KERNEL) != 0 ? find(key ^ PAGE_BIT) : block
}
