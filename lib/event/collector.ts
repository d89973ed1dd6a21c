import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch } from './batch.js'
import { NO_HEADER, type TraceHeader } from './header.js'
import type { TraceEvent } from './trace-event.js'

/** The capacity of the first batch, small because there may be few events. */
const LEAST_EVENTS = 64

/** Collects plain events into batches, whose size adapts to the number of events that arrive together. */
export class EventCollector {
  /** How many events there were. */
  events = 0
  private batch: EventBatch | undefined
  private capacity = LEAST_EVENTS
  private columns = 0

  /**
   * @param name the receiver of the events in messages
   * @param header the header of the batches, until another one is set
   */
  constructor(
    private readonly name: string,
    public header: TraceHeader = NO_HEADER,
  ) {}

  /** Whether a batch should be taken before the next event. */
  get isFull(): boolean {
    const { batch } = this
    return batch !== undefined && (batch.count === batch.capacity || batch.strings.byteLength > BATCH_STRING_BYTES)
  }

  /** Adds an event. @throws what `EventBatch.push` throws, with the name and the number of the event */
  add(event: TraceEvent): void {
    this.batch ??= new EventBatch(this.capacity, this.columns, this.header)
    try {
      this.batch.push(event)
    } catch (error) {
      if (error instanceof Error) error.message = `${this.name}: event ${this.events + 1}: ${error.message}`
      throw error
    }
    this.events++
  }

  /** The events since the last call as a batch; null if there are none. */
  take(): EventBatch | null {
    const { batch } = this
    this.batch = undefined
    if (batch === undefined || batch.count === 0) return null
    this.columns = batch.columns
    // A full batch means that events arrive fast, and a half-empty one that they do not.
    if (batch.count === batch.capacity) this.capacity = Math.min(BATCH_EVENTS, 2 * this.capacity)
    else if (2 * batch.count < batch.capacity) this.capacity = Math.max(LEAST_EVENTS, this.capacity / 2)
    return batch
  }

  /** The result of `take`, for a `yield*`. */
  taken(): EventBatch[] {
    const batch = this.take()
    return batch === null ? [] : [batch]
  }
}
