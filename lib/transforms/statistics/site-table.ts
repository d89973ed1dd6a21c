import { HI, LO, WORD } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import { BlockEffect } from '../../blocks/block-effect.js'
import { BlockSites, UNNAMED, type Followed } from '../../blocks/block-sites.js'
import * as Row from '../../kernel/layouts/owners.js'
import type { StatisticsKernel } from './kernel.js'
import { BoundedKeys, FIRST, MAX_KEYS, NONE, OTHERS } from '../../blocks/bounded-keys.js'
import type { Amount, Overhead, Site, SiteStatistics, SiteThread } from './result.js'
import { HAS_SITE, SiteKeys } from './site-keys.js'

const { began: BEGAN } = BlockEffect
const HAS_SIZE = FieldBit.size

/** The number of 64-bit integers of the live blocks and their bytes. */
const LIVE_INTEGERS = 3

/** The figures of a site, without its name. */
export type SiteFigures = Omit<SiteStatistics, keyof Site>

/** The figures of each site, or of each site and thread. */
export class SiteTable {
  readonly keys: SiteKeys
  /** Rows by site and thread, which are rows of their own tables. */
  private readonly pairs: BoundedKeys | undefined
  /** With `pairs`, the row of the site of each live block. */
  private readonly siteOf = new BlockSites()
  /** The live figures of each row at the kept moment. */
  private kept = new BigUint64Array(0)

  constructor(
    private readonly kernel: StatisticsKernel,
    limit: number = MAX_KEYS,
    byThread = false,
  ) {
    this.keys = new SiteKeys({ rows: limit })
    if (byThread) this.pairs = new BoundedKeys(limit)
  }

  /** One past the last row in use. */
  get size(): number {
    return this.pairs?.size ?? this.keys.size
  }

  /** Whether any allocation has a place. */
  get hasSites(): boolean {
    return this.keys.size > FIRST || this.keys.overflowed
  }

  /** Whether some sites were counted as others. */
  get overflowed(): boolean {
    return this.keys.overflowed || this.pairs?.overflowed === true
  }

  /**
   * Passes the sites of events `from` to `to` of a batch to the kernel, for those that begin blocks.
   * @param threads the rows of their threads
   */
  assign(batch: EventBatch, from: number, to: number, followed: Followed, threads: Int32Array): void {
    const { effects } = followed
    const {
      keys,
      pairs,
      siteOf,
      kernel: { run },
    } = this
    const rows = new Int32Array(run.memory.buffer, run.SITES.value, to - from)
    const hasSites = (batch.columns & HAS_SITE) !== 0
    if (!hasSites) rows.fill(UNNAMED)
    const { mask } = batch
    if (hasSites) {
      keys.begin(batch)
      for (let i = from; i < to; i++) {
        if ((effects[i - from] & BEGAN) === 0) continue
        rows[i - from] = (mask[i] & HAS_SITE) !== 0 ? keys.row(batch, i) : UNNAMED
      }
    }
    if (pairs === undefined) return
    for (let i = from, row = 0; i < to; i++, row++) {
      if ((effects[row] & BEGAN) === 0) continue
      // A block that is resized may keep its site, but belongs to the thread that resized it.
      const site = siteOf.begin(rows[row], followed, row)
      rows[row] = site === OTHERS ? pairs.overflow() : pairs.row(site, threads[row])
    }
  }

  /** The same for events with infos: the first allocation with an info has its site. */
  assignInfos(batch: EventBatch, from: number, to: number): void {
    const { keys, pairs, kernel } = this
    const { run } = kernel
    const rows = new Int32Array(run.memory.buffer, run.SITES.value, to - from)
    const { mask } = batch
    keys.begin(batch)
    for (let i = from; i < to; i++) {
      const fields = mask[i]
      if ((fields & HAS_SIZE) === 0) continue
      const site = (fields & HAS_SITE) === 0 ? NONE : keys.row(batch, i)
      if (pairs === undefined) rows[i - from] = site
      else rows[i - from] = site === OTHERS ? pairs.overflow() : pairs.row(site, NONE)
    }
  }

  /** Stores the current live set, for `keptAt`. */
  keep(): void {
    const { kernel, size } = this
    this.kept = new BigUint64Array(LIVE_INTEGERS * size)
    for (let row = 0; row < size; row++)
      this.kept.set(kernel.integers(this.at(row) + Row.LIVE, LIVE_INTEGERS), LIVE_INTEGERS * row)
  }

  /** The live figures of a row at the kept moment. */
  keptAt(row: number): Amount {
    const [blocks = 0n, low = 0n, high = 0n] = this.kept.subarray(LIVE_INTEGERS * row, LIVE_INTEGERS * (row + 1))
    return { blocks: Number(blocks), bytes: (high << 64n) | low }
  }

  /** Live bytes of each row, to 7 digits. */
  levels(): Float32Array {
    const { run } = this.kernel
    const words = new Uint32Array(run.memory.buffer)
    const step = Row.SITE_BYTES / 4
    const levels = new Float32Array(this.size)
    for (
      let row = 0, at = (this.kernel.word(run.siteTable.value) + Row.LIVE_BYTES) / 4;
      row < levels.length;
      row++, at += step
    ) {
      // More than 2^64 bytes are not drawn to scale.
      levels[row] = words[at + HI] * WORD + words[at + LO]
    }
    return levels
  }

  /** The rows of a row's site and, if threads are distinguished, of its thread. */
  owners(row: number): { site: number; thread?: number } {
    const { pairs } = this
    if (pairs === undefined || row < FIRST) return { site: row }
    return { site: pairs.low(row), thread: pairs.high(row) }
  }

  /** The figures of a row. @param isTimed events have times */
  figures(row: number, hasCpus: boolean, isTimed: boolean): SiteFigures {
    const { kernel } = this
    const at = this.at(row)
    const overhead = this.overhead(row)
    const { allocated, atPeak, leaked, temporary } = kernel.shares(at)
    const events = kernel.sum(at + Row.S_EVENTS)
    const figures: SiteFigures = {
      allocated,
      atPeak,
      leaked,
      temporary,
      ownPeak: { blocks: kernel.number(at + Row.S_MOST_BLOCKS), bytes: kernel.sum(at + Row.S_MOST) },
      foreignFrees: kernel.number(at + Row.S_FOREIGN),
      lived: isTimed ? { events, time: kernel.sum(at + Row.S_TIME) } : { events },
    }
    // A spread would take as long as all of the above.
    if (overhead !== undefined) Object.assign(figures, { overhead })
    if (hasCpus) Object.assign(figures, { crossCpuFrees: kernel.number(at + Row.S_CROSS_CPU) })
    return figures
  }

  /** Every site with its figures, by bytes allocated. Not for tables that distinguish threads. */
  result(hasCpus: boolean, isTimed: boolean, threads: ReadonlyMap<number, SiteThread[]>): SiteStatistics[] {
    const sites: SiteStatistics[] = []
    for (let row = NONE; row < this.size; row++) {
      if (!this.isUsed(row)) continue
      const own = threads.get(row)
      const figures = this.figures(row, hasCpus, isTimed)
      sites.push(Object.assign(this.keys.site(row), figures, own && { threads: own }))
    }
    // Equal ones stay in order of first use.
    return sites.toSorted(
      (a, b) => descending(a.allocated.bytes, b.allocated.bytes) || b.allocated.blocks - a.allocated.blocks,
    )
  }

  /** Whether any block was allocated there. */
  isUsed(row: number): boolean {
    return this.kernel.number(this.at(row)) > 0
  }

  /** The total number of bytes actually allocated; undefined if unknown. */
  totalOverhead(): Overhead | undefined {
    let total: Overhead | undefined
    for (let row = NONE; row < this.size; row++) {
      const { hits, requested, allocated, wasted } = this.overhead(row) ?? {}
      if (hits === undefined) continue
      total ??= { hits: 0, requested: 0n, allocated: 0n, wasted: 0n }
      total.hits += hits
      total.requested += requested as bigint
      total.allocated += allocated as bigint
      total.wasted += wasted as bigint
    }
    return total
  }

  private at(row: number): number {
    return this.kernel.word(this.kernel.run.siteTable.value) + row * Row.SITE_BYTES
  }

  private overhead(row: number): Overhead | undefined {
    const { kernel } = this
    const at = this.at(row)
    const hits = kernel.number(at + Row.S_HITS)
    if (hits === 0) return undefined
    const requested = kernel.sum(at + Row.S_REQUESTED)
    const allocated = kernel.sum(at + Row.S_USABLE)
    return { hits, requested, allocated, wasted: allocated - requested }
  }
}

/** Orders integers from large to small. */
export function descending(a: bigint, b: bigint): number {
  return a < b ? 1 : a > b ? -1 : 0
}

/** A copy of a site with other figures. Unlike a spread, it does not make the stack. */
export function withFigures<Figures extends object>(site: SiteStatistics, figures: Figures): SiteStatistics & Figures {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(site)) as SiteStatistics
  return Object.assign(copy, figures)
}
