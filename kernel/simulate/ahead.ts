/**
 * Reads what the next rows need, so that it is in the processor's cache: the blocks of many rows together, because the
 * processor waits for several at a time.
 */
import { ENDED } from '../live/follow'
import { blockAt } from '../live/records'
import { neighboursAhead } from './nodes'

/** The number of rows that are read ahead. */
export const AHEAD: usize = 16
/** Of these rows, the nodes of the blocks that end. */
const NODES: usize = memory.data(16 * 8)
/** Keeps what was read, because reads without a use would be optimized away. */
const READ: usize = memory.data(8)

/**
 * Reads the blocks that end at rows from `row` on to `end`.
 * @param place the offset of the node's number in a block @param hasNodes whether blocks have nodes
 */
export function readAhead(row: usize, end: usize, place: usize, hasNodes: bool): void {
  const rows = end - row
  let all: u64 = 0
  for (let i: usize = 0; i < rows; i++) {
    const node = load<u32>(blockAt(load<u32>(ENDED + ((row + i) << 2))) + place)
    store<u64>(NODES + (i << 3), <u64>node)
    all ^= <u64>node
  }
  if (hasNodes) {
    for (let i: usize = 0; i < rows; i++) {
      const at = NODES + (i << 3)
      store<u64>(at, neighboursAhead(load<u32>(at)))
    }
    for (let i: usize = 0; i < rows; i++) {
      const at = NODES + (i << 3)
      all ^= neighboursAhead(load<u32>(at)) ^ neighboursAhead(load<u32>(at, 4))
    }
  }
  store<u64>(READ, all)
}
