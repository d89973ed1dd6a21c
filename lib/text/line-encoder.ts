import { Sink } from '../bytes/sink.js'
import type { EventBatch } from '../event/batch.js'
import type { Losses } from '../kernel/losses.js'
import { OneBatch } from '../event/one-batch.js'
import type { Encoder } from '../event/stage.js'

/** The base of text encoders, which convert one batch at a time to lines. */
export abstract class LineEncoder extends OneBatch<Uint8Array> implements Encoder {
  abstract readonly losses: Losses
  readonly consumes = true
  private failure: unknown = null

  constructor(protected readonly sink = new Sink()) {
    super()
  }

  /** Writes a batch to `sink`. If it throws, `sink` contains only whole lines. */
  protected abstract write(batch: EventBatch): void

  dispose(): void {
    this.losses.dispose()
  }

  next(): Uint8Array | null {
    if (this.failure !== null) throw this.failure
    const batch = this.fed()
    try {
      if (batch !== null) this.write(batch)
    } catch (error) {
      // In strict mode: the lines before the loss are delivered first.
      this.failure = error
    }
    if (this.sink.pos > 0) return this.sink.handOver()
    if (this.failure !== null) throw this.failure
    return null
  }
}

/** Copies a word or name. A loop is faster than `set` for short ones. @returns the position after it */
export function put(out: Uint8Array, p: number, bytes: Uint8Array): number {
  const { length } = bytes
  if (length < 32) for (let i = 0; i < length; i++) out[p + i] = bytes[i]
  else out.set(bytes, p)
  return p + length
}
