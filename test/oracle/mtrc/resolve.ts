import { U64Map } from '../../../lib/bytes/u64-map.js'
import { HI, LO } from '../../../lib/bytes/u64.js'

/**
 * The live blocks of a trace by their allocation index, to tell what a free or realloc refers to. Memory grows with
 * the number of blocks that are live at once. All methods work on event i's words in the columns they are given.
 */
export class LiveBlocks {
  /** Value words: the address's low and high word, then the size's. */
  private readonly blocks = new U64Map(4)

  /** A block is at this address, with this size, from now on. */
  put(index: Uint32Array, address: Uint32Array, size: Uint32Array, i: number): void {
    const lo = 2 * i + LO
    const hi = 2 * i + HI
    const slot = this.blocks.add(index[lo], index[hi])
    store(this.blocks.values, slot * 4, address, size, lo, hi)
  }

  /** Like `put`, and gives the address where the block was before. @returns false when no such block was live */
  move(index: Uint32Array, address: Uint32Array, size: Uint32Array, oldAddress: Uint32Array, i: number): boolean {
    const lo = 2 * i + LO
    const hi = 2 * i + HI
    const slot = this.blocks.find(index[lo], index[hi])
    if (slot < 0) {
      this.put(index, address, size, i)
      return false
    }
    const { values } = this.blocks
    oldAddress[lo] = values[slot * 4]
    oldAddress[hi] = values[slot * 4 + 1]
    store(values, slot * 4, address, size, lo, hi)
    return true
  }

  /** Gives a block's address and size and forgets it. @returns false when no such block was live */
  take(index: Uint32Array, address: Uint32Array, size: Uint32Array, i: number): boolean {
    const lo = 2 * i + LO
    const hi = 2 * i + HI
    const slot = this.blocks.find(index[lo], index[hi])
    if (slot < 0) return false
    const { values } = this.blocks
    address[lo] = values[slot * 4]
    address[hi] = values[slot * 4 + 1]
    size[lo] = values[slot * 4 + 2]
    size[hi] = values[slot * 4 + 3]
    this.blocks.remove(slot)
    return true
  }

  /** Forgets all blocks: another trace begins. */
  clear(): void {
    this.blocks.clear()
  }
}

function store(values: Uint32Array, at: number, address: Uint32Array, size: Uint32Array, lo: number, hi: number): void {
  values[at] = address[lo]
  values[at + 1] = address[hi]
  values[at + 2] = size[lo]
  values[at + 3] = size[hi]
}
