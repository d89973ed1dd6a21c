/** Tables that grow by moving to a larger piece of memory. */
import { giveRoom, takeRoom } from '../live/room'

/**
 * Memory of `1 << wanted` bytes that begins with the contents of a smaller piece and is zero after them; 0 if there is
 * no memory. The smaller piece is freed.
 */
export function larger(from: usize, log: u32, wanted: u32): usize {
  const to = takeRoom(wanted)
  if (to == 0) return 0
  const size: usize = from == 0 ? 0 : (<usize>1) << log
  if (from != 0) {
    memory.copy(to, from, size)
    giveRoom(from, log)
  }
  memory.fill(to + size, 0, ((<usize>1) << wanted) - size)
  return to
}

/** The logarithm of the smallest power of two that is at least a number of bytes. */
export function logOf(bytes: u64): u32 {
  return max<u32>(12, 64 - <u32>clz(bytes - 1))
}
