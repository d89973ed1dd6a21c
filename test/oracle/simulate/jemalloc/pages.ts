/** The pages of jemalloc as a list of extents. */
import { PAGE, type JemallocVersion } from './rules.js'

export interface Extent {
  /** The number of the first page. */
  at: number
  pages: number
  state: 'used' | 'dirty' | 'clean' | 'spare'
  arena: number
  /** Its order among extents of equal use. */
  order: number
  /** Extents of different regions do not merge. */
  region: number
}

/** What an arena has besides: of version 5 the length and the number of the next region. */
interface Growth {
  class: number
  count: number
}

const OVERSIZE = 2048
const LARGEST = 63
const POOL = 21
const CACHES = 8

const byUse = (a: Extent, b: Extent) => a.order - b.order || a.at - b.at
const bySize = (a: Extent, b: Extent) => a.pages - b.pages || a.at - b.at

/** The lengths of classes: 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20 ... pages. */
const LENGTHS = [1, 2, 3, 4]
while (LENGTHS.length < 110) {
  const last = LENGTHS.at(-1) as number
  LENGTHS.push(last + Math.max(1, 2 ** Math.floor(Math.log2(last)) / 4))
}
const floorClass = (pages: number) => LENGTHS.findLastIndex((length) => length <= pages)
const ceilClass = (pages: number) => LENGTHS.findIndex((length) => length >= pages)

/** Page extents of all arenas. */
export class Pages {
  private extents: Extent[] = []
  private readonly growth = new Map<number, Growth>()
  private lowest: number
  private regions = 0
  /** The pages of chunks that are not those of extents. */
  private heads = 0
  private readonly version: number
  private readonly chunk: number
  private readonly head: number

  constructor(
    { version, bits }: JemallocVersion,
    private readonly hasCaches: boolean,
  ) {
    this.version = version
    this.lowest = (bits === 64 ? 0x7fff_f7c0_0000 : 0xf7c0_0000) / PAGE
    this.chunk = version === 3 ? 1024 : 512
    this.head = version === 3 ? (bits === 64 ? 6 : 3) : bits === 64 ? 13 : 12
  }

  /** The pages that are in use, or were. */
  get held(): number {
    return this.extents.reduce((sum, { pages, state }) => sum + (state === 'clean' ? 0 : pages), this.heads)
  }

  /** Whether it consists of whole chunks. */
  isHuge({ arena }: Extent): boolean {
    return this.version < 5 && arena === LARGEST
  }

  take(arena: number, pages: number, alignment: number): Extent {
    const slack = Math.max(0, alignment / PAGE - 1)
    if (this.version === 5) return this.takeLately(pages >= OVERSIZE ? LARGEST : arena, pages, slack)
    if (pages + slack > this.chunk - this.head) return this.takeChunks(pages, alignment)
    let free = this.smallest(arena, pages + slack)
    if (free === undefined) {
      this.addChunk(arena)
      free = this.smallest(arena, pages + slack) as Extent
    }
    return this.cut(free, pages, slack)
  }

  free(one: Extent): void {
    const isHuge = this.isHuge(one)
    one.state = isHuge || (this.version === 5 && one.pages >= OVERSIZE) ? 'clean' : 'dirty'
    if (this.version < 5 || one.state === 'clean' || one.pages >= 4) this.merge(one)
    if (this.version < 5 && !isHuge && one.pages === this.chunk - this.head) this.keep(one)
  }

  /** @returns whether there is room after it */
  resize(one: Extent, wanted: number): boolean {
    let pages = wanted
    if (this.isHuge(one)) {
      if (pages <= this.chunk - this.head) return false
      pages = this.whole(pages)
      if (pages !== one.pages && this.version === 3) return false
    }
    if (pages === one.pages) return true
    if (pages < one.pages) {
      const rest = { ...one, at: one.at + pages, pages: one.pages - pages }
      one.pages = pages
      this.extents.push(rest)
      this.free(rest)
      return true
    }
    const next = this.extents.find(({ at, region }) => at === one.at + one.pages && region === one.region)
    if (next === undefined || (next.state !== 'dirty' && next.state !== 'clean')) return false
    if (next.arena !== one.arena || one.pages + next.pages < pages) return false
    const taken = this.cut(next, pages - one.pages, 0)
    this.extents = this.extents.filter((other) => other !== taken)
    one.order = Math.min(one.order, taken.order)
    one.pages = pages
    return true
  }

  /** Takes pages of a free extent: the first aligned ones. */
  private cut(free: Extent, pages: number, slack: number): Extent {
    const lead = Math.ceil(free.at / (slack + 1)) * (slack + 1) - free.at
    const rest = free.pages - lead - pages
    if (lead > 0) this.extents.push({ ...free, pages: lead })
    if (rest > 0) this.extents.push({ ...free, at: free.at + lead + pages, pages: rest })
    Object.assign(free, { at: free.at + lead, pages, state: 'used' })
    return free
  }

  private takeLately(arena: number, pages: number, slack: number): Extent {
    const free = this.inUseLately(arena, pages + slack)
    if (free !== undefined) return this.cut(free, pages, slack)
    let growth = this.growth.get(arena)
    if (growth === undefined) this.growth.set(arena, (growth = { class: floorClass(512), count: 0 }))
    const c = Math.max(growth.class, ceilClass(pages + slack))
    const length = LENGTHS[c] as number
    growth.class = c + 1
    this.lowest -= length
    const region = ++this.regions
    const made: Extent = { at: this.lowest, pages: length, state: 'clean', arena, order: ++growth.count, region }
    this.extents.push(made)
    if (arena === 0 && length === 512) {
      const own = (this.hasCaches ? CACHES : 0) + (pages === POOL ? 0 : POOL)
      if (own > 0) this.cut(made, own, 0)
    }
    return this.takeLately(arena, pages, slack)
  }

  private inUseLately(arena: number, pages: number): Extent | undefined {
    const least = ceilClass(pages)
    const fits = (state: string, most: number) =>
      this.extents
        .filter((one) => one.state === state && one.arena === arena)
        .filter((one) => floorClass(one.pages) >= least)
        .filter((one) => Math.floor((LENGTHS[floorClass(one.pages)] as number) / most) <= pages)
        .toSorted(byUse)[0]
    return fits('dirty', 64) ?? fits('clean', Infinity)
  }

  private merge(one: Extent): void {
    for (;;) {
      const isSame = ({ state, arena, region }: Extent) =>
        state === one.state && arena === one.arena && (this.version < 5 || region === one.region)
      const other =
        this.extents.find((next) => next.at === one.at + one.pages && isSame(next)) ??
        this.extents.find((before) => before.at + before.pages === one.at && isSame(before))
      if (other === undefined) return
      this.extents = this.extents.filter((extent) => extent !== other)
      one.at = Math.min(one.at, other.at)
      one.pages += other.pages
      one.order = Math.min(one.order, other.order)
    }
  }

  private smallest(arena: number, pages: number): Extent | undefined {
    return this.extents
      .filter((one) => one.arena === arena && (one.state === 'dirty' || one.state === 'clean') && one.pages >= pages)
      .toSorted(bySize)[0]
  }

  private whole(pages: number): number {
    return Math.ceil(pages / this.chunk) * this.chunk
  }

  private takeChunks(pages: number, alignment: number): Extent {
    const whole = this.whole(pages)
    const aligned = Math.max(this.chunk, alignment / PAGE)
    const free = this.smallest(LARGEST, whole + aligned - this.chunk)
    if (free !== undefined) return this.cut(free, whole, aligned - 1)
    this.lowest = Math.floor((this.lowest - whole) / aligned) * aligned
    const made: Extent = { at: this.lowest, pages: whole, state: 'used', arena: LARGEST, order: 0, region: 0 }
    this.extents.push(made)
    return made
  }

  private addChunk(arena: number): void {
    const spare = this.extents.find((one) => one.state === 'spare' && one.arena === arena)
    if (spare !== undefined) {
      spare.state = 'dirty'
      return
    }
    const made = this.takeChunks(this.chunk, 1)
    Object.assign(made, { at: made.at + this.head, pages: made.pages - this.head, state: 'clean', arena })
    this.heads += this.head
  }

  /** A whole chunk is free: the one that the arena kept so far is free for others. */
  private keep(one: Extent): void {
    const before = this.extents.find(({ state, arena }) => state === 'spare' && arena === one.arena)
    one.state = 'spare'
    if (before === undefined) return
    Object.assign(before, { at: before.at - this.head, pages: this.chunk, state: 'clean', arena: LARGEST })
    this.heads -= this.head
    this.merge(before)
  }
}
