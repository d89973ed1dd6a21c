import { reviseBatch, type EventBatch } from '../event/batch.js'
import { withMarks, type TraceHeader } from '../event/header.js'
import { plural } from '../event/message-text.js'

/** The number of events at the beginning of a trace that decide about its header. */
export const DECIDING = 4096
/** The maximum bytes of the strings of events that are held back. */
const MOST_BYTES = 16_777_216

/**
 * Marks headers of traces from which a function removes events (`filtered`), although headers come first: the beginning
 * of a trace is held back until an event was removed, or until `DECIDING` events have passed. A warning counts the
 * events that are removed later. Memory is bounded by that number of events.
 */
export class RemovalMarks {
  readonly warnings: string[] = []
  private header: TraceHeader | undefined
  /** The header of the output. */
  private marked: TraceHeader | undefined
  /** The number of events that may still decide, and the number of events that they became. */
  private left = 0
  private isRemoved = false
  private late = 0
  private held: EventBatch[] = []
  private bytes = 0

  /** Notes that another trace may begin. @returns the batches of the previous trace that were held back */
  begin(header: TraceHeader): EventBatch[] {
    if (header === this.header) return []
    const before = this.release()
    this.header = header
    this.marked = undefined
    this.isRemoved = false
    this.left = header.filtered === true ? 0 : DECIDING
    return before
  }

  /** Notes that another event was processed. @param count the number of events that it became */
  note(count: number): void {
    if (this.left > 0) {
      this.left -= Math.max(1, count)
      if (count > 0) return
      this.isRemoved = true
      this.left = 0
    } else if (count === 0 && !this.isRemoved && this.header?.filtered !== true) this.late++
  }

  /** Takes a batch of the current trace. @returns the batches that can be passed on */
  take(batch: EventBatch): EventBatch[] {
    this.held.push(batch)
    this.bytes += batch.strings.byteLength
    return this.left > 0 && this.bytes < MOST_BYTES ? [] : this.release()
  }

  /** Decides, and returns the batches that were held back. */
  release(): EventBatch[] {
    const { held, header } = this
    this.held = []
    this.left = this.bytes = 0
    if (!this.isRemoved || header === undefined) return held
    const marked = (this.marked ??= withMarks(header, { ...header, filtered: true }))
    return held.map((batch) => reviseBatch(batch, 0, batch.strings, marked))
  }

  /** Notes that there are no more events. @returns the batches that were held back */
  end(): EventBatch[] {
    const { late } = this
    if (late > 0) {
      this.warnings.push(
        `${plural(late, 'event')} ${late === 1 ? 'was' : 'were'} dropped after the first ${DECIDING} of the trace, ` +
          'whose header does not say so: blocks that seem to be live may have been freed',
      )
    }
    return this.release()
  }
}
