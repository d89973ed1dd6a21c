import type { EventBatch } from './batch.js'
import { checkOptions } from './options.js'
import { recycle } from './recycle.js'
import type { Stage } from './stage.js'

/** Options of `chain`. */
export interface ChainOptions {
  /**
   * No one else reads the batches between the two, and the first neither keeps them nor returns one twice: their memory
   * is reused as soon as the second has finished with them (see `recycle`). Default false.
   */
  recycle?: boolean
}

/**
 * Two stages as one: the batches that the first gives go to the second at once, without a stream between them. Where
 * the first fails, what came before that goes through the second, too, and then comes the error.
 */
export function chain<In, Out>(
  first: Stage<In, EventBatch>,
  second: Stage<EventBatch, Out>,
  options?: ChainOptions,
): Stage<In, Out> {
  checkOptions(options, { recycle: true }, 'chain')
  return new Chain(first, second, options?.recycle ?? false)
}

class Chain<In, Out> implements Stage<In, Out> {
  readonly warnings: string[] = []
  readonly consumes: boolean
  /** How many of either's warnings are among these. */
  private readonly told: [number, number] = [0, 0]
  /** The batch that the second was fed last, as long as it may be recycled. */
  private last: EventBatch | undefined
  /** The second has something to do. */
  private isBusy = false
  /** How the input ended, if it did. */
  private ending: 'end' | 'endTruncated' | undefined
  /** The second knows that nothing more comes. */
  private isOver = false
  private failure: unknown

  constructor(
    private readonly first: Stage<In, EventBatch>,
    private readonly second: Stage<EventBatch, Out>,
    private readonly recycles: boolean,
  ) {
    this.consumes = first.consumes === true && second.consumes === true
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

  /** What the second makes of what it was given. */
  private ofSecond(): Out | null {
    let result: Out | null
    try {
      result = this.second.next()
    } finally {
      this.tell(1, this.second.warnings)
    }
    // What is delivered itself is not ours to recycle.
    if (result === (this.last as unknown)) this.last = undefined
    if (result !== null) return result
    if (this.last !== undefined && this.recycles && this.second.consumes === true) recycle(this.last)
    this.last = undefined
    this.isBusy = false
    return null
  }

  /** Gives the second a batch, or the news that there are no more. @returns whether it could */
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
    while (this.told[of] < warnings.length) this.warnings.push(warnings[this.told[of]++] as string)
  }
}
