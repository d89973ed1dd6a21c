/**
 * Memory for what grows: pieces whose sizes are powers of two. A piece that is given back is used for whatever fits
 * into it, for memory as such never gets smaller.
 */

const SMALLEST: u32 = 6
const LARGEST: u32 = 32
/** The first free piece of each size, by its logarithm; each begins with the address of the next. */
const FREE: usize = memory.data((32 + 1) * 4)
/** Where nothing has been yet. */
let end: usize = 0

/** A piece of `1 << log` bytes, with whatever was in it before; 0 if there is no memory. */
export function takeRoom(log: u32): usize {
  for (let size = max(log, SMALLEST); size < LARGEST; size++) {
    const piece = <usize>load<u32>(listOf(size))
    if (piece == 0) continue
    store<u32>(listOf(size), load<u32>(piece))
    // The upper halves of a larger one are free again.
    while (size > max(log, SMALLEST)) {
      size--
      giveRoom(piece + ((<usize>1) << size), size)
    }
    return piece
  }
  if (end == 0) end = (__heap_base + 63) & ~63
  const after = <u64>end + ((<u64>1) << max(log, SMALLEST))
  const pages = (after + 0xffff) >> 16
  const here = <u64>memory.size()
  if (pages > 0xffff) return 0
  // Who uses the memory has to look at it anew each time that it grows. What is not touched costs nothing.
  if (pages > here && memory.grow(<i32>max(pages - here, here >> 3)) < 0 && memory.grow(<i32>(pages - here)) < 0)
    return 0
  const at = end
  end = <usize>after
  return at
}

/** Gives a piece back. */
export function giveRoom(at: usize, log: u32): void {
  const list = listOf(max(log, SMALLEST))
  store<u32>(at, load<u32>(list))
  store<u32>(list, <u32>at)
}

// @ts-ignore: decorator
@inline
function listOf(log: u32): usize {
  return FREE + ((<usize>log) << 2)
}
