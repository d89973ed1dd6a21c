import { BlockEffect } from '../../lib/blocks/block-effect.js'
import { LiveSet } from '../../lib/blocks/live-set.js'
import { BATCH_EVENTS, type EventBatch } from '../../lib/event/batch.js'
import { Generator, type GenerateOptions } from '../../lib/generate/generator.js'

/** All batches of a synthetic trace. */
export function* generated(options: GenerateOptions): Iterable<EventBatch> {
  const generator = new Generator(options)
  for (let batch = generator.next(); batch !== null; batch = generator.next()) yield batch
}

/** The sizes of blocks, and the number of allocations during the life of those that end. */
export class Lives {
  readonly sizes: number[] = []
  readonly lifetimes: number[] = []
  private readonly live = new LiveSet(0)
  private readonly births: number[] = []

  add(batch: EventBatch): void {
    const { live, births, sizes, lifetimes } = this
    for (let from = 0; from < batch.count; from += BATCH_EVENTS) {
      const to = Math.min(from + BATCH_EVENTS, batch.count)
      live.follow(batch, from, to)
      for (let row = 0; row < to - from; row++) {
        const effect = live.effects[row]!
        const old = births[live.ended[row]!] ?? 0
        if ((effect & BlockEffect.ended) !== 0 && old > 0) {
          lifetimes.push(sizes.length - old)
          births[live.ended[row]!] = 0
        }
        const block = live.begun[row]!
        if ((effect & BlockEffect.began) === 0 || block === 0) continue
        if ((births[block] ?? 0) > 0) lifetimes.push(sizes.length - births[block]!)
        sizes.push(Number(batch.size.values[from + row]))
        births[block] = sizes.length
      }
    }
  }
}

/**
 * The statistic of the two-sample test of Kolmogorov and Smirnov: the largest distance between the shares of both that
 * are not above a value.
 */
export function distance(first: readonly number[], second: readonly number[]): number {
  const a = Float64Array.from(first).toSorted()
  const b = Float64Array.from(second).toSorted()
  let i = 0
  let j = 0
  let most = 0
  while (i < a.length && j < b.length) {
    const value = Math.min(a[i]!, b[j]!)
    while (i < a.length && a[i] === value) i++
    while (j < b.length && b[j] === value) j++
    most = Math.max(most, Math.abs(i / a.length - j / b.length))
  }
  return most
}

/** The distance that two samples of so many values of the same distribution exceed in 5 % of all cases. */
export function critical(n: number): number {
  return 1.358 * Math.sqrt(2 / n)
}
