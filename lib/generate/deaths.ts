import { widened } from '../bytes/widened.js'

/** The number of lists of each level; a list of a level has the moments of all lists of the level below. */
const LISTS = 256
const LEVELS = 6
const NONE = -1

/**
 * Blocks by the moment at which they end: the timing wheel of Varghese and Lauck (1987), with moments up to 2^48.
 * Adding a block and taking one take constant time.
 */
export class Deaths {
  /** The current moment. */
  now = 0
  /** The number of blocks. */
  size = 0
  private readonly heads = new Int32Array(LEVELS * LISTS).fill(NONE)
  /** By block: the next one of its list, and its moment. */
  private following = new Int32Array(64)
  private moments = new Float64Array(64)

  /** Adds a block. @param moment not before the current one */
  add(block: number, moment: number): void {
    if (block >= this.following.length) {
      const room = 2 ** (32 - Math.clz32(block))
      this.following = widened(this.following, room)
      this.moments = widened(this.moments, room)
    }
    this.moments[block] = moment
    this.size++
    this.link(block, moment)
  }

  /** Takes a block that ends at the current moment, the last added one of its list; -1 if there is none. */
  take(): number {
    const list = this.now % LISTS
    const block = this.heads[list]
    if (block === NONE) return NONE
    this.heads[list] = this.following[block]
    this.size--
    return block
  }

  /** Goes on to the next moment. All blocks of the current one must have been taken. */
  advance(): void {
    this.now++
    let width = LISTS
    for (let level = 1; level < LEVELS && this.now % width === 0; level++, width *= LISTS) {
      const list = level * LISTS + (Math.floor(this.now / width) % LISTS)
      let block = this.heads[list]
      this.heads[list] = NONE
      while (block !== NONE) {
        const next = this.following[block]
        this.link(block, this.moments[block])
        block = next
      }
    }
  }

  /** Takes all blocks, by their moments. */
  drain(): number[] {
    const blocks: number[] = []
    for (const head of this.heads)
      for (let block = head; block !== NONE; block = this.following[block]) blocks.push(block)
    this.heads.fill(NONE)
    this.size = 0
    const { moments } = this
    return blocks.toSorted((a, b) => moments[a] - moments[b] || a - b)
  }

  private link(block: number, moment: number): void {
    let level = 0
    let width = 1
    while (level < LEVELS - 1 && Math.floor(moment / (width * LISTS)) !== Math.floor(this.now / (width * LISTS))) {
      width *= LISTS
      level++
    }
    const list = level * LISTS + (Math.floor(moment / width) % LISTS)
    this.following[block] = this.heads[list]
    this.heads[list] = block
  }
}
