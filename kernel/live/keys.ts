/** The blocks that the events of a batch concern, by key. lib/blocks/block-keys.ts has the keys of their rows. */
import { BEGAN, BY_KERNEL, DONE, FAILED, INDEXED, LEAVES, NO_SPACE, NOTHING } from '../../lib/kernel/layouts/live'
import { ADDRESS, API, INDEX, KIND, MASK, OLD_ADDRESS, OUTCOME, SIZE } from '../shared/columns'
import * as Event from '../shared/event'
import { BEGINS, ENDS, INTENTS, SPACES } from './follow'

export { SPACES } from './follow'

/** Finds the keys of the rows from 0 on, and the intended effects, for `follow`. */
export function intend(rows: u32): void {
  for (let row: usize = 0; row < <usize>rows; row++) {
    const mask = load<u32>(MASK + (row << 2))
    const kind = load<u8>(KIND + row)
    const isKernels = (mask & Event.HAS_API) != 0 && load<u8>(API + row) >= Event.API_KMALLOC
    let more: u32 = isKernels ? BY_KERNEL : 0
    let key: u64 = 0
    let space: u64 = 0
    if ((mask & Event.HAS_INDEX) != 0) {
      key = load<u64>(INDEX + (row << 3))
      more |= INDEXED
    } else {
      if ((mask & Event.HAS_ADDRESS) != 0) key = load<u64>(ADDRESS + (row << 3))
      space = (<u64>load<u32>(SPACES + (row << 2))) << 32
    }
    store<u64>(ENDS + (row << 3), key ^ space)
    store<u64>(BEGINS + (row << 3), key ^ space)
    if (kind > Event.KIND_EXISTING) {
      const isEnd = kind == Event.KIND_PROCESS_END && load<i32>(SPACES + (row << 2)) != NO_SPACE
      store<u8>(INTENTS + row, isEnd ? <u8>LEAVES : 0)
      continue
    }
    let intent: u32
    if (kind == Event.KIND_FREE) intent = key == 0 ? NOTHING : DONE
    else if (kind != Event.KIND_REALLOC) {
      intent = key == 0 ? FAILED : BEGAN
      if (key == 0) more &= ~INDEXED
    } else if ((mask & Event.HAS_INDEX) != 0)
      intent = endsBlock(row, mask) ? DONE : failsIndexed(row, mask) ? FAILED : DONE | BEGAN
    else intent = realloc(row, mask, key, space)
    store<u8>(INTENTS + row, <u8>(intent | more))
  }
}

/** A realloc of a block that is known by its address. */
function realloc(row: usize, mask: u32, address: u64, space: u64): u32 {
  const told = (mask & Event.HAS_OUTCOME) != 0
  const outcome = load<u8>(OUTCOME + row)
  const hasOld = (mask & Event.HAS_OLD_ADDRESS) != 0
  let old: u64 = hasOld && !(told && outcome == Event.OUTCOME_ALLOCATED) ? load<u64>(OLD_ADDRESS + (row << 3)) : 0
  if (told && outcome == Event.OUTCOME_NONE) {
    // One address is enough for a block that did not move.
    if (!hasOld) old = address
    else if ((mask & Event.HAS_ADDRESS) == 0) address = old
  }
  store<u64>(ENDS + (row << 3), old ^ space)
  store<u64>(BEGINS + (row << 3), address ^ space)
  if (address != 0 && !(told && outcome == Event.OUTCOME_FREED)) return old == 0 ? BEGAN : BEGAN | DONE
  if (!endsBlock(row, mask)) return FAILED
  return old == 0 ? NOTHING : DONE
}

/**
 * Whether a realloc freed its block: by its outcome, or because it gives no new address and did not ask for any bytes.
 * One that asked for some and got none failed, and the old block stays live.
 */
function endsBlock(row: usize, mask: u32): bool {
  if ((mask & Event.HAS_OUTCOME) != 0) {
    const outcome = load<u8>(OUTCOME + row)
    if (outcome == Event.OUTCOME_FREED) return true
    if (outcome == Event.OUTCOME_NONE) return false
  }
  return isZero(ADDRESS, row, mask & Event.HAS_ADDRESS) && isZero(SIZE, row, mask & Event.HAS_SIZE)
}

/**
 * Whether a realloc of a block that is known by its index failed: it asked for some bytes, gives the old address, and
 * got no new one. Without addresses, nothing says so.
 */
function failsIndexed(row: usize, mask: u32): bool {
  return (
    (mask & (Event.HAS_OLD_ADDRESS | Event.HAS_OUTCOME)) == Event.HAS_OLD_ADDRESS &&
    isZero(ADDRESS, row, mask & Event.HAS_ADDRESS) &&
    !isZero(SIZE, row, mask & Event.HAS_SIZE)
  )
}

function isZero(column: usize, row: usize, has: u32): bool {
  return has == 0 || load<u64>(column + (row << 3)) == 0
}
