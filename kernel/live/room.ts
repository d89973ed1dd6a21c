/**
 * A buddy-style allocator with one free list per power of two. WebAssembly memory never shrinks, so freed pieces are
 * split and reused.
 */

const SMALLEST: u32 = 6
const LARGEST: u32 = 32
/** The first free piece of each size, by its logarithm. Each piece starts with the address of the next. */
const FREE: usize = memory.data((32 + 1) * 4)
/** The start of the memory that was never used. */
let end: usize = 0

/** Whether the last piece was never used before, so that it is zeros. */
let isNew: bool = false

/** A piece of `1 << log` bytes with undefined content; 0 if memory is exhausted. */
export function takeRoom(log: u32): usize {
  isNew = false
  for (let size = max(log, SMALLEST); size < LARGEST; size++) {
    const piece = <usize>load<u32>(listOf(size))
    if (piece == 0) continue
    store<u32>(listOf(size), load<u32>(piece))
    // The upper halves of a larger piece become free.
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
  // Growth detaches views of the memory, so it grows in large steps. Untouched memory costs nothing.
  if (pages > here && memory.grow(<i32>max(pages - here, here >> 3)) < 0 && memory.grow(<i32>(pages - here)) < 0)
    return 0
  const at = end
  end = <usize>after
  isNew = true
  return at
}

/** The same, filled with zeros. */
export function takeZeros(log: u32): usize {
  const piece = takeRoom(log)
  if (piece != 0) zeroNew(piece, (<usize>1) << log)
  return piece
}

/**
 * Clears bytes of the piece that was taken last. New memory is already zero. Writing to it would make the system
 * provide all of it, though little may be used.
 */
export function zeroNew(at: usize, bytes: usize): void {
  if (!isNew) memory.fill(at, 0, bytes)
}

/** Frees a piece. */
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
