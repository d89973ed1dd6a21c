import { BlockEffect } from '../../../blocks/block-effect.js'
import { LiveSet } from '../../../blocks/live-set.js'
import { doubleAt } from '../../../bytes/u64.js'
import type { EventBatch } from '../../../event/batch.js'
import { FieldBit, Kind } from '../../../event/fields.js'
import { refuseUnidentified, type TraceHeader } from '../../../event/header.js'
import { checkOptions, whole } from '../../../event/options.js'
import { FIRST } from '../../../blocks/bounded-keys.js'
import { HAS_SITE } from '../../statistics/site-keys.js'
import { widened } from '../../../bytes/widened.js'
import { LIFETIME_THRESHOLD } from '../policies.js'
import { AllocationKinds, NO_KIND } from './kinds.js'
import { LifetimePredictor, type LifetimeOptions, type ShortLivedSite } from './predictor.js'

const { began: BEGAN, ended: ENDED, reused: REUSED } = BlockEffect
const { 'process-end': PROCESS_END } = Kind
const HAS_SIZE = FieldBit.size
/** Limits of the options. */
export const MOST_THRESHOLD = 2 ** 45
export const MOST_SITE_FRAMES = 1024
/** The sites that are listed. */
export const MOST_SHORT_SITES = 16

/**
 * Finds the sites and sizes all of whose blocks are short-lived: D. Barrett and B. Zorn, "Using Lifetime Predictors to
 * Improve Memory Allocation Performance" (PLDI 1993). The lifetime of a block is the number of bytes that are allocated
 * after it and before it is freed, by all threads and processes. A block that is not freed, or ends with its process,
 * is not short-lived. A realloc ends a block, and another one begins.
 *
 * Memory grows with the live blocks, and with sites and sizes, up to limits.
 */
export class LifetimeTrainer {
  readonly threshold: number
  readonly frames: number | null
  private readonly live = new LiveSet(0)
  private readonly kinds: AllocationKinds
  private header: TraceHeader | undefined
  private hasSites = false
  private events = 0
  /** The bytes allocated so far. */
  private clock = 0
  /** By live block, its kind, and the time when it began. */
  private kindOf = new Int32Array(64)
  private births = new Float64Array(64)
  /** The highest number of a block in this trace. */
  private highest = 0
  /** By kind, 1 if one of its blocks was not short-lived. */
  private longs = new Uint8Array(64)
  /** By kind, its blocks and the bytes that were requested for them. */
  private blocks = new Float64Array(64)
  private bytes = new Float64Array(64)

  /** @throws RangeError for options that are unknown or out of range */
  constructor(options: LifetimeOptions = {}) {
    checkOptions(options, { threshold: 'number', frames: 'number' }, 'lifetimes()')
    this.threshold = whole('threshold', options.threshold ?? LIFETIME_THRESHOLD, 0, MOST_THRESHOLD)
    this.frames = options.frames === undefined ? null : whole('frames', options.frames, 1, MOST_SITE_FRAMES)
    this.kinds = new AllocationKinds(this.frames)
  }

  /** Takes the next events. @throws RangeError for a trace without identity of blocks */
  add(batch: EventBatch): void {
    if (batch.header !== this.header) this.begin(batch.header)
    this.live.followParts(batch, this.events, (from, to) => this.addRows(batch, from, to))
    this.events += batch.count
  }

  /** The predictor by what was added. */
  finish(): LifetimePredictor {
    this.endTrace()
    this.live.dispose()
    const { kinds, longs } = this
    const short = []
    for (let kind = FIRST; kind < kinds.size; kind++) if (longs[kind] !== 1) short.push(kinds.siteSize(kind))
    return new LifetimePredictor(this.threshold, this.frames, short, {
      kinds: kinds.size - FIRST,
      shortKinds: short.length,
      shortSites: this.shortSites(),
      hasSites: this.hasSites,
      isLimited: kinds.overflowed,
    })
  }

  private shortSites(): ShortLivedSite[] {
    const { kinds, longs } = this
    const sites = new Map<number, { kind: number; blocks: number; bytes: number }>()
    for (let kind = FIRST; kind < kinds.size; kind++) {
      const number = kinds.siteNumber(kind)
      if (number === undefined || longs[kind] === 1) continue
      const known = sites.get(number) ?? { kind, blocks: 0, bytes: 0 }
      known.blocks += this.blocks[kind]
      known.bytes += this.bytes[kind]
      sites.set(number, known)
    }
    return [...sites.values()]
      .toSorted((a, b) => b.bytes - a.bytes || a.kind - b.kind)
      .slice(0, MOST_SHORT_SITES)
      .map(({ kind, blocks, bytes }) => ({ site: kinds.siteSize(kind).site, blocks, bytes }))
  }

  private begin(header: TraceHeader): void {
    refuseUnidentified(header, 'no heap can be simulated')
    this.endTrace()
    this.header = header
  }

  /** The blocks that are still live are not short-lived. */
  private endTrace(): void {
    for (let block = 1; block <= this.highest; block++) this.end(block, false)
    this.highest = 0
    this.live.clear()
  }

  private addRows(batch: EventBatch, from: number, to: number): void {
    const { live } = this
    const kinds = this.kinds.assign(batch, from, to, live)
    if (this.longs.length < this.kinds.size) {
      const size = 2 * this.kinds.size
      this.longs = widened(this.longs, size)
      this.blocks = widened(this.blocks, size)
      this.bytes = widened(this.bytes, size)
    }
    const { effects, ended, begun, gone } = live
    const { kind, mask } = batch
    let next = 0
    for (let i = from, row = 0; i < to; i++, row++) {
      if (kind[i] === PROCESS_END) for (; gone[next] === row; next += 2) this.end(gone[next + 1], false)
      const effect = effects[row]
      if ((effect & (BEGAN | ENDED)) === 0) continue
      const old = ended[row]
      const block = begun[row]
      if ((effect & REUSED) !== 0) this.end(block, true)
      if ((effect & ENDED) !== 0) this.end(old, true)
      if ((effect & BEGAN) === 0) continue
      if ((mask[i] & HAS_SITE) !== 0) this.hasSites = true
      this.start(batch, i, block, kinds[row])
    }
  }

  private start(batch: EventBatch, i: number, block: number, kind: number): void {
    if ((batch.mask[i] & HAS_SIZE) !== 0) {
      const size = doubleAt(batch.size.words, i)
      this.clock += size
      this.bytes[kind] += size
    }
    this.blocks[kind]++
    while (block >= this.births.length) {
      this.births = widened(this.births, 2 * this.births.length)
      this.kindOf = widened(this.kindOf, this.births.length)
    }
    this.highest = Math.max(this.highest, block)
    this.kindOf[block] = kind
    this.births[block] = this.clock
  }

  private end(block: number, isFreed: boolean): void {
    const kind = this.kindOf[block]
    this.kindOf[block] = NO_KIND
    if (!isFreed || this.clock - this.births[block] > this.threshold) this.longs[kind] = 1
  }
}
