/** Pieces of memory by size in bytes, initially zero. */

import { giveRoom, takeZeros } from '../live/room'

const LEAST_LOG: u32 = 6
const MOST_LOG: u32 = 31

function logOf(bytes: u32): u32 {
  return bytes <= 1 << LEAST_LOG ? LEAST_LOG : 32 - clz<u32>(bytes - 1)
}

/** A piece of at least this many bytes. @returns its address, or 0 if memory is exhausted */
export function take(bytes: u32): usize {
  const log = logOf(bytes)
  if (log > MOST_LOG) return 0
  const piece = takeZeros(log)
  // checked: const used = (<usize>bytes + 7) & ~7
  // checked: if (piece != 0) rooms.close(piece + used, ((<usize>1) << log) - used)
  return piece
}

/** Returns a piece that was allocated with this size. */
export function giveBack(piece: usize, bytes: u32): void {
  giveRoom(piece, logOf(bytes))
}
