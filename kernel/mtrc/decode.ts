/** Records to columns. */

import { BATCH_STRING_BYTES } from '../../lib/event/limits'
import { FAULT, FULL, LINE_TOO_LARGE, MARK, NO_MEMORY, SHORT, UNKNOWN_TYPE } from '../../lib/kernel/layouts/mtrc'
import { ADDRESS, FILE, FUNCTION, INDEX, KIND, LINE, MASK, OLD_ADDRESS, SIZE, THREAD, TYPE } from '../shared/columns'
import * as Event from '../shared/event'
import { OF_1, OF_3, OF_7 } from '../shared/leb128'
import { areManyNames, intern, MOST_NAMES, nameRoom, names } from '../shared/names'
import { FIRST, SECOND } from '../shared/table'
import { A, F, H, I, INTERNAL, M, R } from './layout'
import { beginNames, fault, FILE_IDS, FUNCTION_IDS, idOf, leb, name, nameBytes, nowhere, setFault } from './read'
import { addIndexed, findBlock, removeBlock } from './recent'
import { ENTRIES, FILE_ENTRIES, forget, nextBatch, resolve, sources } from './state'

/**
 * The maximum number of bytes from the start of a record, or of a name in it, to the end of the record without further
 * names.
 */
const PADDING: usize = 176

const BLOCK: u32 = Event.HAS_INDEX | Event.HAS_ADDRESS | Event.HAS_SIZE

/** The reason why `decode` returned. */
export let stop: i32 = SHORT
/** The first byte that was not read. */
export let position: usize = 0
/** The union of the fields of all events. */
export let fields: u32 = 0

/** The last line number that was read. */
const LINE_READ: usize = memory.data(8, 8)

/**
 * Reads whole records from `p` to `end` until there are `capacity` events, or for one of the other reasons in `stop`.
 * @returns the number of events that were read
 */
export function decode(p: usize, end: usize, capacity: u32): u32 {
  const withSources = sources
  const resolves = resolve
  // A number truncated by the end of the input ends in zeros.
  memory.fill(end, 0, PADDING)
  if (areManyNames()) forget()
  nextBatch()
  beginNames()
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
      set = Event.HAS_INDEX
    } else if (type == A || type == R) {
      p = leb(p, INDEX + wide, OF_3)
      p = leb(p, ADDRESS + wide, OF_7)
      p = leb(p, SIZE + wide, 0)
    } else if (type == H || type == I) {
      p = leb(p, ADDRESS + wide, OF_7)
      p = leb(p, SIZE + wide, 0)
      set = Event.HAS_ADDRESS | Event.HAS_SIZE
    } else if (type == M) {
      stop = MARK
      break
    } else {
      setFault(UNKNOWN_TYPE)
      stop = FAULT
      break
    }
    if (withSources && (set & Event.HAS_INDEX) != 0) {
      set |= Event.HAS_THREAD | Event.HAS_LINE
      if (load<u32>(p) == 0) {
        // Most frees have no source.
        store<u64>(wide, 0, THREAD)
        store<u32>((<usize>i) << 2, 0, LINE)
        p += 4
      } else {
        p = leb(p, THREAD + wide, OF_1 | OF_3)
        if ((load<u32>(p) & 0xff_ffff) == 0) {
          // No record has one if the names of the program's functions are unknown.
          store<u32>((<usize>i) << 2, 0, LINE)
          p += 3
        } else {
          const caller = <u32>load<u8>(p)
          if (caller == 0) {
            p++
          } else {
            p = name(p, end, caller, FUNCTION_IDS, ENTRIES, FUNCTION + ((<usize>i) << 2))
            set |= Event.HAS_FUNCTION
          }
          const file = <u32>load<u8>(p)
          if (file == 0) {
            p++
          } else {
            p = name(p, end, file, FILE_IDS, FILE_ENTRIES, FILE + ((<usize>i) << 2))
            set |= Event.HAS_FILE
          }
          p = leb(p, LINE_READ, 0)
          const line = load<u64>(LINE_READ)
          // A number that reaches beyond the end is not checked yet, because it may be truncated.
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
      store<u8>(i, Event.KIND_FREE, KIND)
      if (resolves) {
        const index = load<u64>(wide, INDEX)
        const block = findBlock(index)
        if (block != 0) {
          store<u64>(wide, load<u64>(block, FIRST), ADDRESS)
          store<u64>(wide, load<u64>(block, SECOND), SIZE)
          removeBlock(block, index)
          set |= Event.HAS_ADDRESS | Event.HAS_SIZE
        }
      }
    } else if (type == A || type == R) {
      store<u8>(i, type == A ? Event.KIND_ALLOC : Event.KIND_REALLOC, KIND)
      if (resolves) {
        const index = load<u64>(wide, INDEX)
        let block: usize = 0
        if (type == R) {
          block = findBlock(index)
          if (block != 0) {
            store<u64>(wide, load<u64>(block, FIRST), OLD_ADDRESS)
            set |= Event.HAS_OLD_ADDRESS
          }
        }
        if (block == 0) {
          block = addIndexed(index)
          if (block == 0) {
            setFault(NO_MEMORY)
            stop = FAULT
            break
          }
        }
        store<u64>(block, load<u64>(wide, ADDRESS), FIRST)
        store<u64>(block, load<u64>(wide, SIZE), SECOND)
      }
    } else {
      store<u8>(i, Event.KIND_RESERVE, KIND)
      if (type == I) {
        if (nameRoom(8) == 0) {
          setFault(NO_MEMORY)
          stop = FAULT
          break
        }
        store<u32>((<usize>i) << 2, idOf(intern(INTERNAL, 8)), TYPE)
        set |= Event.HAS_TYPE
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
