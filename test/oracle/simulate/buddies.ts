/** Buddy systems over plain lists of blocks: a system is the way in which its blocks divide. */
interface Block {
  readonly at: number
  readonly size: number
}

export type BuddyName = 'binary' | 'double' | 'weighted'

const ROOM = 2 ** 45
const isPower = (n: number) => Number.isInteger(Math.log2(n))

/** One area. Addresses begin at 0. */
class Area {
  private free: Block[] = []
  /** What was not used yet, the lowest last. */
  private readonly rest: Block[]
  private top = 0

  constructor(
    private readonly isWeighted: boolean,
    private readonly unit: number,
    private readonly root: number,
    private readonly page: number,
  ) {
    this.rest = [{ at: 0, size: root }]
  }

  get used(): number {
    return Math.ceil(this.top / this.page) * this.page
  }

  allocate(size: number): number {
    for (;;) {
      const [found] = this.free
        .filter((block) => this.canHold(block.size, size))
        .toSorted((a, b) => a.size - b.size || a.at - b.at)
      if (found !== undefined) {
        this.free = this.free.filter((block) => block !== found)
        return this.divide(found, size, false)
      }
      const next = this.rest.pop() as Block
      if (this.canHold(next.size, size)) {
        const at = this.divide(next, size, true)
        this.top = Math.max(this.top, at + size)
        return at
      }
      this.top = Math.max(this.top, next.at + next.size)
      this.release(next)
    }
  }

  release(block: Block): void {
    const buddy = this.buddyOf({ at: 0, size: this.root }, block)
    const there = this.free.find(({ at, size }) => at === buddy?.at && size === buddy.size)
    if (there === undefined) {
      this.free.push(block)
      return
    }
    this.free = this.free.filter((other) => other !== there)
    this.release({ at: Math.min(block.at, there.at), size: block.size + there.size })
  }

  private parts({ at, size }: Block): [left: Block, right: Block] {
    const left = !this.isWeighted ? size / 2 : isPower(size) ? (size / 4) * 3 : (size / 3) * 2
    return [
      { at, size: left },
      { at: at + left, size: size - left },
    ]
  }

  private buddyOf(whole: Block, block: Block): Block | undefined {
    if (whole.size <= block.size) return undefined
    const [left, right] = this.parts(whole)
    const [mine, other] = block.at < right.at ? [left, right] : [right, left]
    return mine.size === block.size ? other : this.buddyOf(mine, block)
  }

  private canHold(size: number, wanted: number): boolean {
    return size === wanted || (size > wanted && (!this.isWeighted || size > 2 * this.unit))
  }

  private divide(block: Block, wanted: number, isNew: boolean): number {
    while (block.size > wanted) {
      const [left, right] = this.parts(block)
      const fitsRight = this.canHold(right.size, wanted)
      if (!this.canHold(left.size, wanted) || (!isNew && fitsRight && right.size < left.size)) {
        this.free.push(left)
        block = right
      } else {
        if (isNew) this.rest.push(right)
        else this.free.push(right)
        block = left
      }
    }
    return block.at
  }
}

/** One heap: sizes of blocks, and addresses after the start of the heap. */
export class BuddyModel {
  private readonly areas: readonly Area[]

  constructor(
    private readonly name: BuddyName,
    private readonly unit: number,
    page: number,
  ) {
    const isWeighted = name === 'weighted'
    this.areas = [new Area(isWeighted, unit, ROOM, page), new Area(false, unit, (ROOM / 4) * 3, page)]
  }

  get used(): number {
    return this.areas.reduce((sum, { used }) => sum + used, 0)
  }

  /** The size of the block for so many bytes. */
  classOf(bytes: number, isAligned = false): number {
    let power = this.unit
    while (power < bytes) power *= 2
    const less = (power / 4) * 3
    const hasThree = this.name === 'weighted' || (this.name === 'double' && !isAligned)
    return hasThree && less / 3 >= this.unit && less >= bytes ? less : power
  }

  allocate(size: number): number {
    const i = this.areaOf(size)
    return this.areas[i].allocate(size) + i * ROOM
  }

  free(at: number, size: number): void {
    const i = this.areaOf(size)
    this.areas[i].release({ at: at - i * ROOM, size })
  }

  private areaOf(size: number): 0 | 1 {
    return this.name === 'double' && !isPower(size) ? 1 : 0
  }
}
