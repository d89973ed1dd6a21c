import type { EventBatch } from '../../../event/batch.js'
import type { Losses } from '../../../kernel/losses.js'
import type { Encoder } from '../../../event/stage.js'
import { Packer, type PackOptions } from './pack.js'
import { Separator } from './separate.js'

/** Writes events as HATF in the single-file form. A block goes out when it is full, so a live input shows late. */
export class SplitEncoder implements Encoder {
  private readonly separator: Separator
  private readonly packer: Packer
  /** The input is over: how to close what was written, once all of it has come. */
  private closing: 'end' | 'cut' | undefined
  private fault: Error | undefined

  /**
   * @param encoder writes the records, whole ones at a time
   * @throws RangeError on a level or size of blocks that there is not
   */
  constructor(
    private readonly encoder: Encoder,
    options: PackOptions = {},
  ) {
    this.separator = new Separator(options)
    this.packer = new Packer(options)
  }

  get losses(): Losses {
    return this.encoder.losses
  }

  feed(batch: EventBatch): void {
    this.encoder.feed(batch)
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

  cut(): void {
    this.encoder.cut()
    this.closing = 'cut'
  }

  /** Fetches more records or, when there are no more, closes the file; false if there is nothing to do. */
  private advance(): boolean {
    try {
      const records = this.encoder.next()
      if (records !== null) {
        this.separator.feed(records)
        return true
      }
    } catch (error) {
      this.fault = error as Error
      this.packer.cut()
      return true
    }
    if (this.closing === undefined) return false
    this.packer[this.closing]()
    this.closing = undefined
    return true
  }
}
