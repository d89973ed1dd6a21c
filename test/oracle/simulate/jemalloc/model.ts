/** jemalloc as lists: the addresses that its policy has to give to the blocks of one process. */
import { Pages, type Extent } from './pages.js'
import { cachedSizes, PAGE, pagesFor, slotsOf, smallClasses, type JemallocVersion, type SmallClass } from './rules.js'

/** A run of regions of a class. */
interface Run {
  readonly extent: Extent
  readonly kind: number
  readonly taken: boolean[]
}

/** A block with pages of its own: its class has some of them. */
interface Large {
  readonly run: null
  readonly extent: Extent
  classPages: number
}

type Block = { readonly run: Run; readonly region: number } | Large

/** The blocks of a class that a thread has, the newest last. */
interface Cache {
  blocks: Block[]
  /** The fewest since the class was looked at; -1: there was none when one was needed. */
  low: number
  divide: number
  isFilled: boolean
}

interface Thread {
  readonly arena: number
  caches: Map<number, Cache>
  own: Extent | undefined
  next: number
  counted: { allocated: number; freed: number }
}

interface Bin {
  current: Run | undefined
  others: Run[]
}

const POOL_BYTES = 72_704
const ARENAS_OF_5 = 60
/** The pages of the smallest class of version 4 whose blocks have whole chunks. */
const LEAST_HUGE = 512

const isFull = ({ taken }: Run) => !taken.includes(false)
const isBefore = ({ extent: a }: Run, { extent: b }: Run) => a.order - b.order || a.at - b.at

export class JemallocModel {
  private readonly small: readonly SmallClass[]
  /** The sizes of all classes with a cache. */
  private readonly sizes: readonly number[]
  private readonly pages: Pages
  private readonly threads = new Map<bigint, Thread>()
  private readonly bins = new Map<string, Bin>()
  private readonly blocks = new Map<number, Block>()
  private readonly pad: number
  private readonly is5: boolean
  private isFirst = true

  constructor(
    private readonly rules: JemallocVersion,
    private readonly hasCaches: boolean,
  ) {
    this.small = smallClasses(rules)
    this.sizes = [...this.small.map(({ size }) => size), ...cachedSizes(rules)]
    this.pages = new Pages(rules, hasCaches)
    this.is5 = rules.version === 5
    this.pad = this.is5 ? 1 : 0
  }

  get used(): number {
    return this.pages.held * PAGE
  }

  /** The bytes of all live blocks, as malloc_usable_size reports them. */
  get granted(): number {
    return [...this.blocks.values()].reduce((sum, block) => sum + this.usable(block), 0)
  }

  allocate(id: bigint, size: number, alignment: number): number {
    return this.make(id, size, alignment, undefined)
  }

  /** @returns the address after a realloc */
  resize(id: bigint, address: number, size: number): number {
    const old = this.blocks.get(address) as Block
    this.blocks.delete(address)
    return this.make(id, size, 0, old)
  }

  free(id: bigint, address: number): void {
    const thread = this.thread(id)
    const block = this.blocks.get(address) as Block
    this.blocks.delete(address)
    // Its pages may be joined with others when they are free.
    const bytes = this.usable(block)
    this.release(thread, block)
    this.count(thread, bytes, true)
  }

  end(id: bigint): void {
    const thread = this.thread(id)
    for (const [, cache] of [...thread.caches].toSorted(([a], [b]) => a - b)) this.flush(cache, Infinity)
    thread.caches = new Map()
    if (thread.own !== undefined) this.pages.free(thread.own)
    thread.own = undefined
  }

  private make(id: bigint, requested: number, alignment: number, old: Block | undefined): number {
    const thread = this.thread(id)
    const isAligned = alignment > 0 && Number.isInteger(Math.log2(alignment))
    let size = Math.max(1, requested)
    let isCachable = true
    if (isAligned) {
      const rounded = Math.ceil(size / alignment) * alignment
      if (alignment > PAGE || (this.is5 && rounded > 14_336)) {
        isCachable = false
        if (this.rules.version > 3) size = Math.max(size, 16_384)
      } else size = rounded
    }
    if (this.isFirst && this.is5 && requested !== POOL_BYTES) thread.next = 1
    this.isFirst = false
    const found = isCachable ? this.sizes.findIndex((one) => one >= size) : -1
    const kind = found < 0 ? this.sizes.length : found
    const pages = pagesFor(size, this.rules.version) + this.pad
    const isSmall = kind < this.small.length
    const before = old === undefined ? 0 : this.usable(old)
    let block: Block | undefined
    if (old !== undefined && old.run?.kind === kind) block = old
    else if (old?.run === null && !isSmall && this.pages.resize(old.extent, pages)) {
      old.classPages = pages
      block = old
    }
    const isMoved = old !== undefined && block === undefined
    block ??= kind < this.sizes.length ? this.cached(thread, kind, pages) : this.large(thread, pages, alignment)
    if (isMoved) this.release(thread, old)
    this.count(thread, isSmall ? (this.small[kind] as SmallClass).size : (pages - this.pad) * PAGE, false)
    if (old !== undefined && (isMoved || this.is5)) this.count(thread, before, true)
    const address = this.addressOf(block)
    this.blocks.set(address, block)
    return address
  }

  private thread(id: bigint): Thread {
    let thread = this.threads.get(id)
    if (thread === undefined) {
      const n = this.threads.size
      const own = this.is5 && this.hasCaches && n > 0 ? this.pages.take(0, 8, 0) : undefined
      const arena = n % (this.is5 ? ARENAS_OF_5 : 2)
      this.threads.set(id, (thread = { arena, caches: new Map(), own, next: 0, counted: { allocated: 0, freed: 0 } }))
    }
    return thread
  }

  private addressOf(block: Block): number {
    if (block.run === null) return block.extent.at * PAGE
    const { size, first } = this.small[block.run.kind] as SmallClass
    return block.run.extent.at * PAGE + first + block.region * size
  }

  private usable(block: Block): number {
    if (block.run !== null) return (this.small[block.run.kind] as SmallClass).size
    // Of whole chunks, version 4 counts those pages that the class has, and version 3 all.
    if (this.rules.version === 4 && this.pages.isHuge(block.extent))
      return Math.max(block.classPages, LEAST_HUGE) * PAGE
    return (block.extent.pages - this.pad) * PAGE
  }

  private large({ arena }: Thread, pages: number, alignment: number): Block {
    return { run: null, extent: this.pages.take(arena, pages, alignment), classPages: pages }
  }

  private cacheOf(thread: Thread, kind: number): Cache {
    let cache = thread.caches.get(kind)
    if (cache === undefined) thread.caches.set(kind, (cache = { blocks: [], low: 0, divide: 1, isFilled: false }))
    return cache
  }

  private cached(thread: Thread, kind: number, pages: number): Block {
    const isSmall = kind < this.small.length
    if (!this.hasCaches) return isSmall ? this.region(thread.arena, kind) : this.large(thread, pages, 0)
    const cache = this.cacheOf(thread, kind)
    if (cache.blocks.length === 0) {
      cache.low = -1
      if (!isSmall) return this.large(thread, pages, 0)
      cache.isFilled = true
      const wanted = Math.max(1, Math.floor(this.slots(kind) / 2 ** cache.divide))
      for (let i = 0; i < wanted; i++) cache.blocks.unshift(this.region(thread.arena, kind))
    }
    const block = cache.blocks.pop() as Block
    cache.low = Math.min(cache.low, cache.blocks.length)
    return block
  }

  private slots(kind: number): number {
    return slotsOf(this.rules.version, this.small[kind]?.regions ?? null)
  }

  private release(thread: Thread, block: Block): void {
    const size = this.usable(block)
    const kind = block.run !== null ? block.run.kind : this.sizes.findIndex((one) => one >= size)
    if (!this.hasCaches || kind < 0) return this.giveBack(block)
    const cache = this.cacheOf(thread, kind)
    const slots = this.slots(kind)
    if (cache.blocks.length >= slots) this.flush(cache, cache.blocks.length - Math.floor(slots / 2))
    cache.blocks.push(block)
  }

  /** Gives the oldest blocks of a cache back. */
  private flush(cache: Cache, blocks: number): void {
    const flushed = cache.blocks.splice(0, blocks)
    for (const block of this.is5 ? flushed.toReversed() : flushed) this.giveBack(block)
    cache.low = Math.min(cache.low, cache.blocks.length)
  }

  private bin(arena: number, kind: number): Bin {
    const key = `${arena} ${kind}`
    let bin = this.bins.get(key)
    if (bin === undefined) this.bins.set(key, (bin = { current: undefined, others: [] }))
    return bin
  }

  private region(arena: number, kind: number): Block {
    const bin = this.bin(arena, kind)
    const { pages, regions } = this.small[kind] as SmallClass
    if (bin.current === undefined || isFull(bin.current)) {
      const [first] = bin.others.toSorted(isBefore)
      bin.others = bin.others.filter((run) => run !== first)
      const taken = Array.from({ length: regions }, () => false)
      bin.current = first ?? { extent: this.pages.take(arena, pages, 0), kind, taken }
    }
    const run = bin.current
    const region = run.taken.indexOf(false)
    run.taken[region] = true
    return { run, region }
  }

  private giveBack(block: Block): void {
    if (block.run === null) return this.pages.free(block.extent)
    const { run, region } = block
    const bin = this.bin(run.extent.arena, run.kind)
    const wasFull = isFull(run)
    run.taken[region] = false
    if (!run.taken.includes(true)) {
      bin.others = bin.others.filter((other) => other !== run)
      if (bin.current === run) bin.current = undefined
      this.pages.free(run.extent)
    } else if (wasFull && run !== bin.current) {
      if (bin.current === undefined || isBefore(run, bin.current) > 0) bin.others.push(run)
      else {
        if (!isFull(bin.current)) bin.others.push(bin.current)
        bin.current = run
      }
    }
  }

  /** After so many calls, or bytes, the next class of the thread's cache is looked at. */
  private count(thread: Thread, bytes: number, isFree: boolean): void {
    if (!this.hasCaches) return
    const name = this.is5 && isFree ? 'freed' : 'allocated'
    const after = this.is5 ? 65_536 : Math.floor((8191 + this.small.length) / this.small.length)
    thread.counted[name] += this.is5 ? bytes : 1
    if (thread.counted[name] < after) return
    thread.counted[name] = 0
    const kind = thread.next
    thread.next = (kind + 1) % this.sizes.length
    const cache = thread.caches.get(kind)
    if (cache === undefined) return
    const isSmall = kind < this.small.length
    if (cache.low > 0) {
      this.flush(cache, cache.low - Math.floor(cache.low / 4))
      if (isSmall && this.slots(kind) >= 2 ** (cache.divide + 1)) cache.divide++
    } else if (isSmall && cache.isFilled) {
      if (cache.divide > 1) cache.divide--
      cache.isFilled = false
    }
    cache.low = cache.blocks.length
  }
}
