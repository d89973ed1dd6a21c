import type { LifetimeOptions, LifetimePredictor } from '../transforms/simulate/lifetimes/predictor.js'
import { LifetimeTrainer } from '../transforms/simulate/lifetimes/trainer.js'
import { CollectingSink, type ResultSink } from './result-sink.js'

/** A sink that finds out which blocks are short-lived. */
export type LifetimeSink = ResultSink<LifetimePredictor>

/**
 * A Writable that learns of the events written to it which blocks are short-lived, by site and size, for `simulate`.
 * Memory grows with the live blocks, and with sites and sizes, up to limits.
 *
 * @example
 * const training = lifetimes()
 * await pipeline(createReadStream('train.hfrec'), decompress(), decodeAny(), training)
 * const heap = simulate({ policy: 'bump', predict: await training.result })
 * const output = createWriteStream('arenas.mtrc')
 * await pipeline(createReadStream('app.hfrec'), decompress(), decodeAny(), heap, mtrc.encode(), output)
 * console.log(heap.results()[0]?.prediction)
 *
 * @throws RangeError for options that are unknown or out of range. A trace that does not say which blocks its events
 *   are about is an error of the stream.
 */
export function lifetimes(options: LifetimeOptions = {}): LifetimeSink {
  return new CollectingSink('lifetimes()', new LifetimeTrainer(options))
}
