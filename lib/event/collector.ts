import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch } from './batch.js'
import { malformed, truncated, type TraceError } from './error.js'
import { NO_HEADER, type TraceHeader } from './header.js'
import { recordFromJson, type WireRecord } from './json-record.js'
import { plural, showValue } from './message-text.js'
import type { TraceEvent } from './trace-event.js'

/** The capacity of the first batch, small because there may be few events. */
const LEAST_EVENTS = 64

/**
 * Collects plain events into batches, whose size adapts to the number of events that arrive together. It takes lines of
 * NDJSON, too, as `JSON.parse` gives them: their header and end records, and addresses as text.
 */
export class EventCollector {
  /** The number of events. */
  events = 0
  private batch: EventBatch | undefined
  private capacity = LEAST_EVENTS
  private columns = 0
  /** A header record came, and no end record since. */
  private isOpen = false
  /** An end record came, and no header record since. */
  private isEnded = false
  /** The number of events since the last header record. */
  private sinceHeader = 0
  /** Records came: all events are parsed JSON. */
  private isJson = false

  /**
   * @param name the receiver of the events in messages; if it is empty, they do not say which event is wrong
   * @param header the header of the batches, until another one is set
   * @param warn receives what is odd
   */
  constructor(
    private readonly name: string,
    public header: TraceHeader = NO_HEADER,
    private readonly warn: (text: string) => void = () => {},
  ) {}

  /** Whether a batch should be taken before the next event. */
  get isFull(): boolean {
    const { batch } = this
    return batch !== undefined && (batch.count === batch.capacity || batch.strings.byteLength > BATCH_STRING_BYTES)
  }

  /**
   * Adds an event.
   * @throws what `EventBatch.push` and `recordFromJson` throw, with the name and the number of the event; TraceError
   *   after an end record
   */
  add(event: TraceEvent): void {
    if (this.isEnded) throw malformed('an event after the end record', { format: this.name, event: this.events + 1 })
    this.batch ??= new EventBatch(this.capacity, this.columns, this.header)
    try {
      this.batch.push(this.isJson || typeof event?.address === 'string' ? eventFromJson(event) : event)
    } catch (error) {
      throw this.placed(error)
    }
    this.events++
    this.sinceHeader++
  }

  /**
   * Takes a header or end record, after all events before it were taken.
   * @returns a batch without events that begins the next trace; null at the end of one
   */
  begin(record: object): EventBatch | null {
    this.isJson = true
    let given: WireRecord
    try {
      given = recordFromJson(record)
    } catch (error) {
      throw this.placed(error)
    }
    if (given.kind !== 'header') {
      if (given.kind === 'end') this.end(given.events)
      return null
    }
    const unfinished = this.unfinished('a header record where the end record was due')
    if (unfinished !== undefined) throw unfinished
    this.isOpen = true
    this.isEnded = false
    this.sinceHeader = 0
    this.header = given.header
    return new EventBatch(0, 0, this.header)
  }

  /** @param events the number that the end record has */
  private end(events: number | undefined): void {
    const { sinceHeader } = this
    if (this.isOpen && events !== undefined && events !== sinceHeader)
      this.warn(
        `${this.name}: the end record says ${plural(events, 'event')}, but ${sinceHeader} arrived: ` +
          'what is in between added or removed some',
      )
    this.isOpen = false
    this.isEnded = true
  }

  /** The reason why the input is not whole: its end record is missing. Undefined if it is whole. */
  unfinished(reason = 'no end record: what wrote this failed or was interrupted'): TraceError | undefined {
    return this.isOpen ? truncated(reason, { format: this.name, event: this.events + 1 }) : undefined
  }

  /** An error with the name and the number of the event. */
  private placed(error: unknown): unknown {
    if (error instanceof Error && this.name !== '')
      error.message = `${this.name}: event ${this.events + 1}: ${error.message}`
    return error
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

/** @throws Error that says what is wrong with the event */
function eventFromJson(parsed: TraceEvent): TraceEvent {
  const record = recordFromJson(parsed)
  const [unknown] = record.kind === 'event' ? record.unknown : []
  if (record.kind !== 'event' || unknown !== undefined) throw new RangeError(`unknown field ${showValue(unknown)}`)
  return record.event
}
