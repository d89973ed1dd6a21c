import { HI, LO, WORD } from '../../bytes/u64.js'
import { grown } from './tables.js'

/** The address of the first block. */
const FIRST_ADDRESS = 0x1_0000
/** Blocks begin at multiples of this. */
const ALIGNMENT = 16
/** A block with more bytes than this gets the room of a block of 0 bytes. */
const MAX_ROOM = 2 ** 40
/** Addresses are below this, so that they can be counted in doubles. */
const END = 2 ** 53

/**
 * Addresses for the blocks of an interpreted file, which has none: each block gets an unused address above all earlier
 * ones, with room for its bytes. A free concerns the newest live block with the same info. Takes 12 bytes for each live
 * block.
 */
export class LiveBlocks {
  /** The words of the address that was last assigned or freed. */
  readonly address = new Uint32Array(2)
  private next = FIRST_ADDRESS
  /** By info, the newest live block, by number from 1; 0 for none. */
  private newest = new Uint32Array(1024)
  /** By block: the words of its address, and the previous block with the same info. */
  private blocks = new Uint32Array(3 * 1024)
  private used = 0
  /** The first of a chain of blocks that are no longer live. */
  private spare = 0

  /** Whether the next block gets this address. */
  isNext(lo: number, hi: number): boolean {
    return this.next === hi * WORD + lo
  }

  /** Whether this is the address of the newest live block of an info. */
  isNewest(info: number, lo: number, hi: number): boolean {
    const block = this.newest[info]
    return this.blocks[3 * block] === lo && this.blocks[3 * block + 1] === hi
  }

  /** Allocates a block. @returns false if no address is left for it */
  allocate(info: number, sizeLo: number, sizeHi: number): boolean {
    const { address, next } = this
    const size = sizeHi * WORD + sizeLo
    const room = size > MAX_ROOM ? ALIGNMENT : Math.max(1, Math.ceil(size / ALIGNMENT)) * ALIGNMENT
    if (next + room > END) return false
    this.next = next + room
    address[LO] = next >>> 0
    address[HI] = Math.floor(next / WORD)
    if (info >= this.newest.length) this.newest = grown(this.newest, info + 1)
    let block = this.spare
    if (block === 0) {
      block = ++this.used
      if (3 * block + 2 >= this.blocks.length) this.blocks = grown(this.blocks, 3 * block + 3)
    } else {
      this.spare = this.blocks[3 * block + 2]
    }
    const { blocks } = this
    blocks[3 * block] = address[LO]
    blocks[3 * block + 1] = address[HI]
    blocks[3 * block + 2] = this.newest[info]
    this.newest[info] = block
    return true
  }

  /** Frees the newest live block of an info. @returns whether there is one */
  free(info: number): boolean {
    const { address, blocks, newest } = this
    const block = info < newest.length ? newest[info] : 0
    if (block === 0) return false
    newest[info] = blocks[3 * block + 2]
    address[LO] = blocks[3 * block]
    address[HI] = blocks[3 * block + 1]
    blocks[3 * block + 2] = this.spare
    this.spare = block
    return true
  }
}
