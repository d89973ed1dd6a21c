import { isEventBatch, type EventBatch } from '../event/batch.js'
import { wrongType } from '../event/error.js'
import { showValue } from '../event/message-text.js'
import type { Decoder } from '../event/stage.js'
import type { Cursor, Reading } from './cursor.js'

/** A decoder that is a generator: it runs until a batch can be delivered, or more input is needed. */
export class CursorDecoder implements Decoder {
  private readonly reading: Reading
  private isWaiting = false
  private isOver = false
  private fault: unknown

  /** @param read reads the format; it is called once, and runs when the first result is requested */
  constructor(
    protected readonly cursor: Cursor,
    read: (cursor: Cursor) => Reading,
  ) {
    this.reading = read(cursor)
  }

  get warnings(): readonly string[] {
    return this.cursor.warnings
  }

  feed(chunk: Uint8Array): void {
    this.cursor.input.feed(chunk)
    this.isWaiting = false
  }

  end(): void {
    this.cursor.input.ended = true
    this.isWaiting = false
  }

  endTruncated(): void {
    this.cursor.isCut = true
    this.end()
  }

  detach(): void {
    this.cursor.input.detach()
  }

  dispose(): void {
    this.isOver = true
    this.reading.return()
  }

  next(): EventBatch | null {
    if (!this.isWaiting && !this.isOver && this.fault === undefined) {
      try {
        const { done, value } = this.reading.next()
        this.isOver = done === true
        if (value) return this.give(this.batch(value))
        this.isWaiting = true
      } catch (error) {
        this.fault = error
      }
    }
    const rest = this.cursor.takeEmitted()
    if (rest === null && this.fault !== undefined) throw this.fault
    return this.give(rest)
  }

  /** What the reader yielded, which a batch must be. */
  private batch(value: unknown): EventBatch {
    if (isEventBatch(value)) return value
    const hint = 'yield* belongs before begin(), line() and take() of the cursor, and emit() takes events'
    throw this.cursor.failed(wrongType(`it yielded ${showValue(value)}: ${hint}`))
  }

  private give(batch: EventBatch | null): EventBatch | null {
    if (batch !== null) this.cursor.delivered += batch.count
    return batch
  }
}
