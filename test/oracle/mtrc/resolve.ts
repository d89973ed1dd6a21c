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
    const slot = this.blocks.add(index[lo] as number, index[hi] as number)
    store(this.blocks.values, slot * 4, address, size, lo, hi)
  }

  /** Like `put`, and gives the address where the block was before. @returns false when no such block was live */
  move(index: Uint32Array, address: Uint32Array, size: Uint32Array, oldAddress: Uint32Array, i: number): boolean {
    const lo = 2 * i + LO
    const hi = 2 * i + HI
    const slot = this.blocks.find(index[lo] as number, index[hi] as number)
    if (slot < 0) {
      this.put(index, address, size, i)
      return false
    }
    const { values } = this.blocks
    oldAddress[lo] = values[slot * 4] as number
    oldAddress[hi] = values[slot * 4 + 1] as number
    store(values, slot * 4, address, size, lo, hi)
    return true
  }

  /** Gives a block's address and size and forgets it. @returns false when no such block was live */
  take(index: Uint32Array, address: Uint32Array, size: Uint32Array, i: number): boolean {
    const lo = 2 * i + LO
    const hi = 2 * i + HI
    const slot = this.blocks.find(index[lo] as number, index[hi] as number)
    if (slot < 0) return false
    const { values } = this.blocks
    address[lo] = values[slot * 4] as number
    address[hi] = values[slot * 4 + 1] as number
    size[lo] = values[slot * 4 + 2] as number
    size[hi] = values[slot * 4 + 3] as number
    this.blocks.remove(slot)
    return true
  }

  /** Forgets all blocks: another trace begins. */
  clear(): void {
    this.blocks.clear()
  }
}

function store(values: Uint32Array, at: number, address: Uint32Array, size: Uint32Array, lo: number, hi: number): void {
  values[at] = address[lo] as number
  values[at + 1] = address[hi] as number
  values[at + 2] = size[lo] as number
  values[at + 3] = size[hi] as number
}
