import { Readable } from 'node:stream'
import type { EventBatch } from '../event/batch.js'
import { asBuffer } from './as-buffer.js'
import { failing } from './failure.js'
import { QUEUED } from './stage.js'
import type { Done } from './types.js'

/** One of the readable sides of a sink that divides its input. A failure follows the data queued in it. */
export class Side extends Readable {
  /** Its consumer has not taken the last chunk yet. */
  isFull = false
  private isOver = false
  private readonly failWith = failing(this)

  /**
   * @param onWanted called when it can accept more
   * @param onClosed called with the reason when it is closed before its end
   */
  constructor(
    private readonly onWanted: () => void,
    private readonly onClosed: (error: Error) => void,
  ) {
    super({ objectMode: true, highWaterMark: QUEUED })
  }

  override _read(): void {
    this.isFull = false
    this.onWanted()
  }

  override _destroy(error: Error | null, done: Done): void {
    done(error)
    if (!this.isOver) this.onClosed(error ?? new Error('a stream was closed before it had ended'))
  }

  give(chunk: Uint8Array | EventBatch): void {
    if (!(chunk instanceof Uint8Array)) this.isFull = !this.push(chunk)
    else if (chunk.length > 0) this.isFull = !this.push(asBuffer(chunk))
  }

  finish(): void {
    this.isOver = true
    this.push(null)
  }

  fail(error: Error): void {
    if (this.isOver || this.destroyed) return
    this.isOver = true
    this.failWith(error)
  }
}
