/** Tables that grow by moving to a larger piece of memory, whose size is a power of two. */
import { giveRoom, takeRoom, zeroNew } from '../live/room'

/** The size of a `GrowingTable`, which lies in `memory.data`: zeros are a table without memory. */
export const GROWING: i32 = 8
/** The logarithm of the smallest size of a table. */
const SMALLEST: u32 = 12

/** A table that grows. If there is no memory for more, it stays as it is. */
@unmanaged
export class GrowingTable {
  /** Its address, which changes when it grows. */
  at: usize
  /** The logarithm of its size in bytes. */
  log: u32

  /** Makes room for this many bytes in total; the new ones are zero. @returns whether there is memory */
  @inline
  reserve(bytes: u64): bool {
    return this.has(bytes) || this.grow(bytes, true)
  }

  /** The same, but the new bytes are undefined. */
  @inline
  extend(bytes: u64): bool {
    return this.has(bytes) || this.grow(bytes, false)
  }

  /** Makes a new table of this size with undefined content. @returns whether there is memory */
  restart(log: u32): bool {
    this.drop()
    return this.grow((<u64>1) << log, false)
  }

  /** Frees its memory. */
  drop(): void {
    if (this.at != 0) giveRoom(this.at, this.log)
    this.at = 0
    this.log = 0
  }

  /** Whether there is room for this many bytes, at least 2. */
  @inline
  has(bytes: u64): bool {
    return bytes <= (<u64>1) << this.log
  }

  grow(bytes: u64, isZeroed: bool): bool {
    const log = max<u32>(SMALLEST, 64 - <u32>clz(bytes - 1))
    const to = takeRoom(log)
    if (to == 0) return false
    const size: usize = this.at == 0 ? 0 : (<usize>1) << this.log
    if (isZeroed) zeroNew(to + size, ((<usize>1) << log) - size)
    if (size != 0) {
      memory.copy(to, this.at, size)
      giveRoom(this.at, this.log)
    }
    this.at = to
    this.log = log
    return true
  }
}
