import { NumberList } from './lists.js'

/** The address of the first block; blocks end before `END`. */
const START = 0x1000_0000_0000
const END = 0x8000_0000_0000
/** The alignment of all blocks. */
const GRANULE = 16
/** There are at most so many classes of sizes below `END`. */
const CLASSES = 256

/**
 * Addresses of blocks by a simple policy: sizes are rounded to classes, four for each doubling, and a freed address is
 * used again by the next block of its class. No two live blocks overlap. Memory grows with the most blocks of each
 * class that are live at a time.
 */
export class Addresses {
  /** The addresses that are free, by list. */
  private readonly free: (NumberList | undefined)[] = []
  private top = START
  /** The list to which the last taken address belongs. */
  list = 0

  /**
   * Takes an address; `list` is then where it is to be returned.
   * @param size in bytes
   * @param alignment a power of two, or less than 16 for the usual one
   * @throws RangeError when the live blocks do not fit 47 bits
   */
  take(size: number, alignment: number): number {
    const bytes = Math.max(size, GRANULE)
    const octave = Math.floor(Math.log2(bytes))
    // Math.log2 is exact for powers of two; beside these it may be one too high or too low.
    const power = 2 ** octave > bytes ? octave - 1 : octave
    const step = 2 ** power / 4
    const quarters = Math.ceil((bytes - 2 ** power) / step)
    const granted = Math.max(GRANULE, Math.ceil((2 ** power + quarters * step) / GRANULE) * GRANULE)
    const aligned = Math.max(alignment, GRANULE)
    this.list = power * 4 + quarters + CLASSES * Math.log2(aligned / GRANULE)
    const known = this.free[this.list]?.pop()
    if (known !== undefined) return known
    const address = Math.ceil(this.top / aligned) * aligned
    this.top = address + granted
    if (this.top > END) throw new RangeError('the live blocks do not fit an address space of 2^47 bytes')
    return address
  }

  /** Returns an address. @param list the list to which it belongs */
  give(address: number, list: number): void {
    ;(this.free[list] ??= new NumberList()).push(address)
  }
}
