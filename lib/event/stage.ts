import type { EventBatch } from './batch.js'
import type { LossCounts } from './losses.js'

/**
 * One step of a pipeline as a pure object: fed one thing at a time, then asked for results until it has no more.
 * Decoders, encoders and transforms all have this form, and know nothing of Node streams; `lib/streams` turns any of
 * them into a Transform that honours backpressure between two results.
 *
 * The order of calls is: `feed`, `next` until null, `feed`, ... and at last either `end` or `cut`, then `next` until
 * null. Once `next` has thrown, the stage is not used again; it throws only after it has given out every result that
 * came before the fault.
 */
export interface Stage<In, Out> {
  /**
   * Takes the next input. Called only when `next` has returned null. Of bytes, those that were not used yet are looked
   * at until the next call of `feed` has returned; then their owner may use the memory again.
   */
  feed(input: In): void
  /** The next result, or null when more input is needed. @throws TraceError */
  next(): Out | null
  /** The input is complete: `next` then gives what was held back and the trailer, or throws if something is missing. */
  end(): void
  /** The input broke off with an error elsewhere: `next` then gives what was held back, and no trailer. */
  cut(): void
  /**
   * What is no error, but people must be told: sentences with format, offset and event number, in the order in which
   * they came up. Grows while the stage runs (by a bounded number), and is never reordered.
   */
  readonly warnings?: readonly string[]
  /**
   * Whether it looks at a batch that it was fed only until `next` has returned null, unless it gives out that very
   * batch: the batch may be recycled then. Default false: it may hold batches back, or what it gives out may be parts
   * of them.
   */
  readonly consumes?: boolean
}

/** Bytes to events. The first batch may be empty: it brings the header as soon as that is known. */
export type Decoder = Stage<Uint8Array, EventBatch>

/** Events to bytes. */
export interface Encoder extends Stage<EventBatch, Uint8Array> {
  /** What the format had no place for so far. */
  readonly losses: LossCounts
}

/** Events to events. Batches are shared and never changed once emitted: a transform makes new ones. */
export type BatchTransform = Stage<EventBatch, EventBatch>
