import type { LiveSet } from '../../../blocks/live-set.js'
import { batchesOf, type EventBatch } from '../../../event/batch.js'
import type { TraceEvent } from '../../../event/trace-event.js'
import type { Site } from '../../statistics/result.js'
import { AllocationKinds, type SiteSize } from './kinds.js'

/** How a predictor is trained. */
export interface LifetimeOptions {
  /** A block is short-lived if at most so many bytes are allocated during its lifetime. Default 32,768. */
  readonly threshold?: number
  /** The site of a block is so many of its stack's innermost frames. Default: the whole stack. */
  readonly frames?: number
}

/** The short-lived blocks of a site. */
export interface ShortLivedSite {
  readonly site: Site
  /** The blocks of those sizes that were all short-lived there, and the bytes that were requested for them. */
  readonly blocks: number
  readonly bytes: number
}

/** What was learned of a trace. */
export interface LifetimeTraining {
  /** Pairs of a site and a size, and those of them whose blocks were all short-lived. */
  readonly kinds: number
  readonly shortKinds: number
  /** The sites with the most bytes in short-lived blocks, at most 16. None, if kinds are sizes alone. */
  readonly shortSites: readonly ShortLivedSite[]
  /** Whether any allocation had a stack or another place; otherwise kinds are sizes alone. */
  readonly hasSites: boolean
  /** Whether there were too many sites or kinds: blocks of those beyond the limits are not predicted. */
  readonly isLimited: boolean
}

/**
 * Predicts which blocks are short-lived: those with a site and a size all of whose blocks were short-lived in a trace.
 * A value, which does not change; `LifetimeTrainer` makes it.
 */
export class LifetimePredictor {
  /**
   * @param threshold the most bytes that are allocated during the lifetime of a short-lived block
   * @param frames how many innermost frames are the site; null: all
   * @param kinds the sites and sizes of short-lived blocks
   */
  constructor(
    readonly threshold: number,
    readonly frames: number | null,
    readonly kinds: readonly SiteSize[],
    readonly training: LifetimeTraining,
  ) {}

  /** Predicts the blocks of one trace. */
  reader(): LifetimeReader {
    return new LifetimeReader(this)
  }
}

/** Applies a predictor to traces. Memory grows with their live blocks and sites, up to limits. */
export class LifetimeReader {
  private readonly kinds: AllocationKinds
  /** Kinds below this are those of the predictor. */
  private readonly end: number

  constructor({ frames, kinds }: LifetimePredictor) {
    this.kinds = new AllocationKinds(frames)
    for (const batch of batchesOf(kinds.map(allocation)))
      for (let i = 0; i < batch.count; i++) this.kinds.kindAt(batch, i)
    this.end = this.kinds.size
  }

  /**
   * Sets whether the blocks that begin at events `from` to `to` are expected to be short-lived, by row.
   * @param live the live set, which has followed these events
   */
  predict(batch: EventBatch, from: number, to: number, live: LiveSet, predicted: Uint8Array): void {
    const kinds = this.kinds.assign(batch, from, to, live)
    const { end } = this
    for (let row = 0; row < to - from; row++) {
      const kind = kinds[row]
      predicted[row] = kind > 0 && kind < end ? 1 : 0
    }
  }
}

/** An event at a site: as the events of a trace, so that it has the same number. */
function allocation({ site, size }: SiteSize): TraceEvent {
  const { rest: _, ...place } = site
  return { kind: 'alloc', size: BigInt(size), ...place } as TraceEvent
}
