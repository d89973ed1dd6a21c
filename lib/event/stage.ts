import type { EventBatch } from './batch.js'
import type { LossCounts } from './losses.js'

/**
 * One step of a pipeline as a pure object: the caller feeds it one input, then takes results until there are none.
 * Decoders, encoders and transforms all have this form, and do not depend on Node streams; `lib/streams` turns any of
 * them into a Transform that honors backpressure between two results.
 *
 * The order of calls is: `feed`, `next` until null, `feed`, ... and finally either `end` or `endTruncated`, then `next`
 * until null. After `next` has thrown, the stage must not be used again; it throws only after it has returned every
 * result before the fault.
 */
export interface Stage<In, Out> {
  /**
   * Takes the next input. Called only when `next` has returned null. The stage may keep reading a chunk until the next
   * `feed` returns; after that its owner may reuse the memory.
   */
  feed(input: In): void
  /** The next result, or null when more input is needed. @throws TraceError */
  next(): Out | null
  /** The input is complete: `next` then gives what was held back and the trailer, or throws if something is missing. */
  end(): void
  /** The input was truncated by an error elsewhere: `next` then returns what was held back, and no trailer. */
  endTruncated(): void
  /**
   * Recoverable oddities, as sentences with format, offset and event number, in their order. Grows while the stage runs
   * (by a bounded number), and is never reordered.
   */
  readonly warnings?: readonly string[]
  /**
   * Whether it reads a batch only until `next` has returned null, unless it delivers that very batch: the batch may be
   * recycled then. Default false: it may hold batches back, or its results may share their memory.
   */
  readonly consumes?: boolean
  /**
   * Whether it takes batches with `EventBatch.infos`, in which events have no addresses and most have no sizes. It does
   * not need to know which block is freed, and gets all events of a trace. It also knows the stacks of a tree by their
   * nodes (`StringTable.nodeOf`): each frame of the tree comes once in a trace, so a list has only the innermost frames
   * that no earlier list had, perhaps none. It must look at the lists of every batch, in their order. Default false.
   */
  readonly countsInfos?: boolean
  /**
   * Copies what it still has to read of the last chunk: the chunk's owner may change it from now on. Called when `next`
   * has returned null, by those who cannot keep the chunk until the next `feed`.
   */
  detach?(): void
  /**
   * Frees memory that the garbage collector does not know of. Called once, by the one who runs the stage, when it is
   * over or not used any more. Afterwards only `warnings` and `losses` are read.
   */
  dispose?(): void
}

/** Bytes to events. The first batch may be empty: it carries the header as soon as it is known. */
export interface Decoder extends Stage<Uint8Array, EventBatch> {
  /** Its batches shall have `EventBatch.infos`, if that is how the trace identifies blocks. Called before `feed`. */
  giveInfos?(): void
}

/** Events to bytes. */
export interface Encoder extends Stage<EventBatch, Uint8Array> {
  /** The losses of the format so far. */
  readonly losses: LossCounts
}

/** Events to events. Batches are shared and never changed once emitted: a transform makes new ones. */
export type BatchTransform = Stage<EventBatch, EventBatch>
