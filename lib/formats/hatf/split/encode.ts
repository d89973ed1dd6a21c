import type { EventBatch } from '../../../event/batch.js'
import type { LossCounts } from '../../../event/losses.js'
import type { Encoder } from '../../../event/stage.js'
import { Packer, type PackOptions, splitOptions } from './pack.js'
import { Separator } from './separate.js'

/** Writes events as HATF in the single-file form. A block is written when it is full, so live input appears late. */
export class SplitEncoder implements Encoder {
  private readonly separator: Separator
  private readonly packer: Packer
  /** Set when the input is over: the way to close the file once everything has been written. */
  private closing: 'end' | 'endTruncated' | undefined
  private fault: Error | undefined

  /**
   * @param encoder writes the records, always complete ones
   * @throws RangeError on an invalid level or block size
   */
  constructor(
    private readonly encoder: Encoder,
    options: PackOptions = {},
  ) {
    this.packer = new Packer(options)
    this.separator = new Separator(splitOptions(options))
  }

  get losses(): LossCounts {
    return this.encoder.losses
  }

  feed(batch: EventBatch): void {
    this.encoder.feed(batch)
  }

  dispose(): void {
    this.encoder.dispose?.()
  }

  /** @throws TraceError when an event or field cannot be written in strict mode; the events before it are in a block */
  next(): Uint8Array | null {
    for (;;) {
      const bytes = this.packer.next()
      if (bytes !== null) return bytes
      if (this.fault !== undefined) throw this.fault
      const piece = this.separator.next()
      if (piece !== null) this.packer.feed(piece)
      else if (!this.advance()) return null
    }
  }

  end(): void {
    this.encoder.end()
    this.closing = 'end'
  }

  endTruncated(): void {
    this.encoder.endTruncated()
    this.closing = 'endTruncated'
  }

  /** Fetches more records or, when there are none left, closes the file. @returns false if there is nothing to do */
  private advance(): boolean {
    try {
      const records = this.encoder.next()
      if (records !== null) {
        this.separator.feed(records)
        return true
      }
    } catch (error) {
      this.fault = error as Error
      this.packer.endTruncated()
      return true
    }
    if (this.closing === undefined) return false
    this.packer[this.closing]()
    this.closing = undefined
    return true
  }
}
