import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch } from './batch.js'
import { NO_HEADER, type TraceHeader } from './header.js'
import type { TraceEvent } from './trace-event.js'

/** The capacity of the first batch: there may be no more events. */
const LEAST_EVENTS = 64

/** Collects plain events into batches, which are as large as the events that come in one go make worthwhile. */
export class EventCollector {
  /** How many events there were. */
  events = 0
  private batch: EventBatch | undefined
  private capacity = LEAST_EVENTS
  private columns = 0

  /**
   * @param name what messages call the receiver of the events
   * @param header the header of the batches, until that is set to another one
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
    // A full batch says that they come fast, a batch that was taken half empty that they do not.
    if (batch.count === batch.capacity) this.capacity = Math.min(BATCH_EVENTS, 2 * this.capacity)
    else if (2 * batch.count < batch.capacity) this.capacity = Math.max(LEAST_EVENTS, this.capacity / 2)
    return batch
  }

  /** What `take` gives, for a `yield*`. */
  taken(): EventBatch[] {
    const batch = this.take()
    return batch === null ? [] : [batch]
  }
}
