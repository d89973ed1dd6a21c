import type { EventBatch } from './batch.js'
import { checkOptions } from './options.js'
import { recycle } from './recycle.js'
import type { Stage } from './stage.js'

/** Options of `chain`. */
export interface ChainOptions {
  /**
   * Reuse the memory of the batches between the two as soon as the second has finished with them (see `recycle`). No
   * other consumer may read these batches, and the first stage must neither keep them nor return one twice. Default
   * false.
   */
  recycle?: boolean
}

/**
 * Two stages as one: the batches of the first go directly to the second, without a stream between them. If the first
 * fails, its results before the fault still go through the second, and then the error is thrown.
 */
export function chain<In, Out>(
  first: Stage<In, EventBatch>,
  second: Stage<EventBatch, Out>,
  options?: ChainOptions,
): Stage<In, Out> {
  checkOptions(options, { recycle: 'boolean' }, 'chain')
  return new Chain(first, second, options?.recycle ?? false)
}

class Chain<In, Out> implements Stage<In, Out> {
  readonly warnings: string[] = []
  readonly consumes: boolean
  readonly countsInfos: boolean
  /** The number of warnings of each stage that are included. */
  private readonly told: [number, number] = [0, 0]
  /** The last batch fed to the second, as long as it may be recycled. */
  private last: EventBatch | undefined
  /** The second has something to do. */
  private isBusy = false
  /** The way in which the input ended, if it did. */
  private ending: 'end' | 'endTruncated' | undefined
  /** The second has been told that the input has ended. */
  private isOver = false
  private failure: unknown

  constructor(
    private readonly first: Stage<In, EventBatch>,
    private readonly second: Stage<EventBatch, Out>,
    private readonly recycles: boolean,
  ) {
    this.consumes = first.consumes === true && second.consumes === true
    this.countsInfos = first.countsInfos === true && second.countsInfos === true
  }

  feed(input: In): void {
    this.first.feed(input)
  }

  end(): void {
    this.ending = 'end'
    this.first.end()
  }

  endTruncated(): void {
    this.ending = 'endTruncated'
    this.first.endTruncated()
  }

  next(): Out | null {
    for (;;) {
      const result = this.isBusy ? this.ofSecond() : null
      if (result !== null) return result
      if (this.failure !== undefined) throw this.failure
      if (this.isOver || !this.goOn()) return null
    }
  }

  detach(): void {
    this.first.detach?.()
  }

  dispose(): void {
    this.first.dispose?.()
    this.second.dispose?.()
  }

  /** The next result of the second. */
  private ofSecond(): Out | null {
    let result: Out | null
    try {
      result = this.second.next()
    } finally {
      this.tell(1, this.second.warnings)
    }
    // A delivered batch must not be recycled here.
    if (result === (this.last as unknown)) this.last = undefined
    if (result !== null) return result
    if (this.last !== undefined && this.recycles && this.second.consumes === true) recycle(this.last)
    this.last = undefined
    this.isBusy = false
    return null
  }

  /** Feeds a batch to the second, or ends it. @returns false if the first has nothing to pass on */
  private goOn(): boolean {
    const batch = this.ofFirst()
    if (batch !== null) {
      this.last = batch
      this.second.feed(batch)
    } else if (this.failure !== undefined || this.ending !== undefined) {
      this.isOver = true
      if (this.failure !== undefined || this.ending === 'endTruncated') this.second.endTruncated()
      else this.second.end()
    } else {
      return false
    }
    this.isBusy = true
    return true
  }

  private ofFirst(): EventBatch | null {
    try {
      return this.first.next()
    } catch (error) {
      this.failure = error
      return null
    } finally {
      this.tell(0, this.first.warnings)
    }
  }

  private tell(of: 0 | 1, warnings: readonly string[] = []): void {
    while (this.told[of] < warnings.length) this.warnings.push(warnings[this.told[of]++])
  }
}
