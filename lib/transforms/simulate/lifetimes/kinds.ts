import { BlockEffect } from '../../../blocks/block-effect.js'
import { BlockSites, UNNAMED, type Followed } from '../../../blocks/block-sites.js'
import { HI, LO } from '../../../bytes/u64.js'
import type { EventBatch } from '../../../event/batch.js'
import { FieldBit } from '../../../event/fields.js'
import { BoundedKeys, FIRST, NONE, OTHERS } from '../../../blocks/bounded-keys.js'
import { Paths } from '../../statistics/paths.js'
import type { Site } from '../../statistics/result.js'
import { Form, HAS_SITE, SiteKeys } from '../../statistics/site-keys.js'
import { widened } from '../../../bytes/widened.js'

const { began: BEGAN } = BlockEffect
const HAS_SIZE = FieldBit.size

/** The maximum number of kinds that are distinguished. */
const MOST_KINDS = 1 << 20
/** Sizes are rounded up to multiples of this. */
const ROUNDED = 4
/** The largest size of a kind. */
export const LARGEST_SIZE = 2 ** 32 - ROUNDED
/** The number of a site that is a shortened stack: this plus the node of its path. */
const SHORT = 1 << 28
/** An allocation without a kind: its site is unknown, there are too many kinds, or its size is above `LARGEST_SIZE`. */
export const NO_KIND = 0

/** A place of allocations, and a size, rounded up to a multiple of 4 bytes. */
export interface SiteSize {
  readonly site: Site
  readonly size: number
}

/**
 * Numbers the kinds of allocations, from `FIRST`: pairs of a site and a size, rounded up to a multiple of 4 bytes. The
 * site is the whole stack, or its innermost frames; without a stack, whatever else is known of the place. A realloc
 * without a site has the site of the block. Memory grows with the kinds, up to limits, and with the live blocks.
 */
export class AllocationKinds {
  private readonly sites = new SiteKeys()
  private readonly pairs = new BoundedKeys(MOST_KINDS)
  /** If sites have a number of frames: by the row of a site, its number, or 0. */
  private numbers = new Int32Array(64)
  private readonly paths = new Paths(1)
  /** By live block, the number of its site. */
  private readonly siteOf = new BlockSites()
  private kinds = new Int32Array(0)
  /** By the number of a site, one of its rows, for its name. */
  private readonly rows = new Map<number, number>()

  /** @param frames the number of a stack's innermost frames that are the site; null: all */
  constructor(private readonly frames: number | null) {}

  /** One past the last kind. */
  get size(): number {
    return this.pairs.size
  }

  /** Whether there were more kinds or sites than are distinguished. */
  get overflowed(): boolean {
    return this.pairs.overflowed || this.sites.overflowed
  }

  /**
   * The kinds of the blocks that begin at events `from` to `to`, by row; `NO_KIND` for others.
   * @param live the live set, which has followed these events
   */
  assign(batch: EventBatch, from: number, to: number, live: Followed): Int32Array {
    if (this.kinds.length < to - from) this.kinds = new Int32Array(to - from)
    const { kinds, sites } = this
    const { effects } = live
    const { mask } = batch
    if ((batch.columns & HAS_SITE) !== 0) sites.begin(batch)
    for (let i = from, row = 0; i < to; i++, row++) {
      kinds[row] = NO_KIND
      if ((effects[row] & BEGAN) === 0) continue
      const named = (mask[i] & HAS_SITE) !== 0 ? this.site(batch, i) : UNNAMED
      kinds[row] = this.kind(batch, i, this.siteOf.begin(named, live, row))
    }
    return kinds
  }

  /** The kind of event i, which allocates a block. @returns `NO_KIND` if it has none */
  kindAt(batch: EventBatch, i: number): number {
    this.sites.begin(batch)
    return this.kind(batch, i, (batch.mask[i] & HAS_SITE) === 0 ? NONE : this.site(batch, i))
  }

  /** The number of the site of a kind; undefined if that is not known. */
  siteNumber(kind: number): number | undefined {
    const number = this.pairs.high(kind)
    return number === NONE ? undefined : number
  }

  siteSize(kind: number): SiteSize {
    const number = this.pairs.high(kind)
    const { frames } = this
    const site = this.sites.site(this.rows.get(number) ?? number)
    const isShort = frames !== null && site.stack !== undefined
    return {
      site: isShort ? { stack: (site.stack as readonly string[]).slice(0, frames) } : site,
      size: ROUNDED * this.pairs.low(kind),
    }
  }

  private site(batch: EventBatch, i: number): number {
    const row = this.sites.row(batch, i)
    return this.frames === null || row < FIRST ? row : this.short(row, this.frames)
  }

  private kind(batch: EventBatch, i: number, site: number): number {
    if (site === OTHERS) return NO_KIND
    const isSized = (batch.mask[i] & HAS_SIZE) !== 0
    const { words } = batch.size
    const lo = isSized ? words[2 * i + LO] : 0
    if (isSized && (words[2 * i + HI] !== 0 || lo > LARGEST_SIZE)) return NO_KIND
    const row = this.pairs.row(Math.ceil(lo / ROUNDED), site)
    return row === OTHERS ? NO_KIND : row
  }

  /** The number of the site that consists of the innermost frames of a row's stack. */
  private short(row: number, frames: number): number {
    while (row >= this.numbers.length) this.numbers = widened(this.numbers, 2 * this.numbers.length)
    const known = this.numbers[row]
    if (known !== 0) return known
    const { sites, paths } = this
    let number = row
    if (sites.form(row) === Form.stack) {
      // The innermost frame is the last word of the path.
      const words = Uint32Array.from(sites.paths.reversed(sites.node(row), frames))
      const path = paths.find(0, words, words.length)
      number = path < 0 ? OTHERS : SHORT + path
      if (path >= 0 && !this.rows.has(number)) this.rows.set(number, row)
    }
    this.numbers[row] = number
    return number
  }
}
