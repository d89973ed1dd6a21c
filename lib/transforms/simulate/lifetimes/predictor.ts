import type { LiveSet } from '../../../blocks/live-set.js'
import { batchesOf, type EventBatch } from '../../../event/batch.js'
import type { TraceEvent } from '../../../event/trace-event.js'
import type { Site } from '../../statistics/result.js'
import { AllocationKinds, type SiteSize } from './kinds.js'

/** Options for training a predictor. */
export interface LifetimeOptions {
  /** A block is short-lived if at most this number of bytes is allocated during its lifetime. Default 32,768. */
  readonly threshold?: number
  /** The number of innermost frames of a block's stack that are its site. Default: the whole stack. */
  readonly frames?: number
}

/** The short-lived blocks of a site. */
export interface ShortLivedSite {
  readonly site: Site
  /** The blocks of the sizes whose blocks were all short-lived there, and the bytes requested for them. */
  readonly blocks: number
  readonly bytes: number
}

/** The results of training with a trace. */
export interface LifetimeTraining {
  /** The number of pairs of a site and a size, and of the pairs whose blocks were all short-lived. */
  readonly kinds: number
  readonly shortKinds: number
  /** The sites with the most bytes in short-lived blocks, at most 16. None, if kinds are sizes alone. */
  readonly shortSites: readonly ShortLivedSite[]
  /** Whether any allocation had a stack or another place; otherwise kinds are sizes alone. */
  readonly hasSites: boolean
  /** Whether there were too many sites or kinds. Blocks of the sites or kinds beyond the limits are not predicted. */
  readonly isLimited: boolean
}

/**
 * Predicts that a block is short-lived if all blocks with its site and size were short-lived in another trace.
 * `LifetimeTrainer` makes predictors, which do not change.
 */
export class LifetimePredictor {
  /**
   * @param threshold the maximum bytes allocated during the lifetime of a short-lived block
   * @param frames the number of innermost frames that are the site; null: all
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
  /** Kinds below this number are the predictor's. */
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

/** An event at a site, in the form of the events of a trace, so that the site has the same number. */
function allocation({ site, size }: SiteSize): TraceEvent {
  const { rest: _, ...place } = site
  return { kind: 'alloc', size: BigInt(size), ...place } as TraceEvent
}
