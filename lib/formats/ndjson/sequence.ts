import type { EventBatch } from '../../event/batch.js'
import { malformed, truncated, type TracePosition } from '../../event/error.js'
import { NO_HEADER, type TraceHeader } from '../../event/header.js'
import { plural, showValue } from '../../event/message-text.js'
import type { WireRecord } from '../../event/json-record.js'

/** The maximum number of warnings and unknown names that are reported. A hostile stream could contain any number. */
const MAX_TOLD = 100
/** Of longer names, only this number of characters is kept: more than a message shows. */
const LONG_NAME = 100

/**
 * The state of a decoder in a stream of records: the current header, whether its end record has come, and the number of
 * events. A trace that was cut short upstream is recognized by its missing end record.
 */
export class Sequence {
  header: TraceHeader = NO_HEADER
  /** The number of events since the header in delivered batches. */
  private sinceHeader = 0
  private delivered: TraceHeader | undefined
  private state: 'bare' | 'open' | 'ended' = 'bare'
  private readonly unknown = new Map<string, number>()

  /**
   * @param warnings receives the warnings
   * @param here the place of the line being read, after events in the batch that is being filled
   */
  constructor(
    private readonly warnings: string[],
    private readonly here: (pending: number) => Required<TracePosition>,
  ) {}

  /** Whether the end record has come, and no header since. */
  get ended(): boolean {
    return this.state === 'ended'
  }

  /** @throws TraceError after the end record: an event there belongs to no stream */
  checkOpen(pending: number): void {
    if (this.state === 'ended') throw malformed('an event after the end record', this.here(pending))
  }

  /** Counts the keys of an event that are not fields. */
  noteUnknown(names: readonly string[]): void {
    for (const given of names) {
      // A copy of the part that is shown: a name may be as long as a line.
      const name = given.length > LONG_NAME ? Buffer.from(given.slice(0, LONG_NAME)).toString() : given
      const told = this.unknown.size < MAX_TOLD || this.unknown.has(name) ? name : 'others'
      this.unknown.set(told, (this.unknown.get(told) ?? 0) + 1)
    }
  }

  /** Takes a header or end record. Called only when all events before it have been delivered. */
  accept(record: WireRecord & { kind: 'header' | 'end' }): void {
    if (record.kind === 'header') {
      if (this.state === 'open') throw truncated('a header record where the end record was due', this.here(0))
      for (const key of record.unknown.slice(0, Math.max(0, MAX_TOLD - this.warnings.length)))
        this.warnings.push(`ndjson: line ${this.here(0).line}: ${showValue(key)} is not a key of headers: left out`)
      this.header = record.header
      this.sinceHeader = 0
      this.state = 'open'
      return
    }
    if (
      record.events !== undefined &&
      record.events !== this.sinceHeader &&
      this.state === 'open' &&
      this.warnings.length < MAX_TOLD
    ) {
      this.warnings.push(
        `ndjson: line ${this.here(0).line}: the end record says ${plural(record.events, 'event')}, but ` +
          `${this.sinceHeader} arrived: a command in between added or removed some`,
      )
    }
    this.state = 'ended'
  }

  /** Whether a batch has to be delivered: it has events or a new header. */
  worthGiving(batch: Pick<EventBatch, 'count' | 'header'>): boolean {
    return batch.count > 0 || (batch.header !== this.delivered && batch.header !== NO_HEADER)
  }

  /** Counts the events of a batch that is delivered. */
  give(batch: EventBatch): void {
    this.sinceHeader += batch.count
    this.delivered = batch.header
  }

  /** The input is complete. @throws TraceError when the end record is missing */
  finish(): void {
    for (const [name, n] of this.unknown)
      this.warnings.push(`ndjson: ${showValue(name)} is not a field of events: left out of ${plural(n, 'event')}`)
    this.unknown.clear()
    if (this.state === 'open') {
      throw truncated('no end record: the command that wrote this failed or was interrupted', this.here(0))
    }
  }
}
