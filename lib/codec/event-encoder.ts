import { AddressedLosses, spacesTold } from '../blocks/addressed-losses.js'
import type { EventBatch } from '../event/batch.js'
import { FormatFault, TraceError, wrongType } from '../event/error.js'
import { FieldBit, KINDS } from '../event/fields.js'
import type { TraceHeader } from '../event/header.js'
import type { Carried, Filling } from '../event/losses.js'
import { showValue } from '../event/message-text.js'
import { encodeText } from '../event/strings.js'
import { isPromise } from '../event/synchronous.js'
import type { TraceEvent } from '../event/trace-event.js'
import { Losses } from '../kernel/losses.js'
import { LineEncoder } from '../text/line-encoder.js'

/** Reports what the format cannot represent of the current event. With `strict` it throws: nothing is written of it. */
export type Lose = (reason: string) => void

/** Writes the events of a format one by one, as text or bytes. */
export interface EventWriter {
  /**
   * The beginning of a trace.
   * @param trace its number in the stream, from 1. Where there is no `begin`, a later trace is reported as a loss
   */
  begin?(header: TraceHeader, trace: number, lose: Lose): string | Uint8Array
  /** An event; undefined leaves it out, which is reported. It may have fields that the format does not carry. */
  event(event: TraceEvent, lose: Lose): string | Uint8Array | undefined
  /** The end of a trace, after the last event, unless the input was truncated. */
  end?(): string | Uint8Array
}

/** The properties of an encoder besides the form of events. */
export interface EncoderFacts {
  readonly name: string
  readonly carried: Carried
  readonly filled?: readonly Filling[]
  readonly groups?: number
}

/** An encoder that writes events one by one, and counts all that is lost. */
export class EventEncoder extends LineEncoder {
  readonly losses: Losses
  private header: TraceHeader | undefined
  private traces = 0
  /** The number of events before the current batch. */
  private events = 0
  private readonly carried: Carried
  private readonly name: string

  constructor(
    { name, carried, filled = [], groups = 0 }: EncoderFacts,
    private readonly writer: EventWriter,
    strict = false,
  ) {
    super()
    this.carried = carried
    this.name = name
    // Without an index, a reader knows blocks by their addresses.
    const isIndexed = ((carried.alloc ?? 0) & FieldBit.index) !== 0
    this.losses = isIndexed
      ? new Losses(name, carried, strict, filled, groups)
      : new AddressedLosses(spacesTold(carried), name, carried, strict, filled, groups)
  }

  protected override write(batch: EventBatch): void {
    const { losses } = this
    const n = losses.countBatch(batch)
    if (batch.header !== this.header) this.begin(batch)
    for (let i = 0; i < n; i++) {
      // Events without a record were counted.
      if (this.carried[KINDS[batch.kind[i] as number]] === undefined) continue
      const written = this.written(batch, i)
      if (written !== undefined) this.append(written, 'event')
      else losses.countEvent(`${KINDS[batch.kind[i]]} events that the writer left out`, batch, i)
    }
    if (n < batch.count) throw losses.errorFor(batch, n)
    this.events += n
  }

  override end(): void {
    if (this.writer.end !== undefined) this.append(this.writer.end(), 'end')
  }

  /** The writer's output for event i. @throws FormatFault with the number of the event, for what is no TraceError */
  private written(batch: EventBatch, i: number): string | Uint8Array | undefined {
    try {
      return this.writer.event(batch.event(i), (reason) => this.losses.countEvent(reason, batch, i))
    } catch (error) {
      if (error instanceof TraceError) throw error
      throw new FormatFault('writer', error, { format: this.name, event: this.events + i + 1 })
    }
  }

  private begin(batch: EventBatch): void {
    this.header = batch.header
    this.traces++
    if (this.writer.begin !== undefined)
      this.append(
        this.writer.begin(batch.header, this.traces, (reason) => this.losses.countTrace(reason)),
        'begin',
      )
    else if (this.traces > 1) this.losses.countTrace('beginning of another trace')
  }

  private append(written: string | Uint8Array, from: keyof EventWriter): void {
    if (typeof written !== 'string' && !(written instanceof Uint8Array)) throw this.unwritable(written, from)
    this.sink.append(typeof written === 'string' ? encodeText(written) : written)
  }

  private unwritable(written: unknown, from: keyof EventWriter): TypeError {
    const who = `${from}() of the writer of ${this.name}`
    if (isPromise(written)) return wrongType(`${who} returned a promise, but it must not be async`)
    const more = from === 'event' ? ', or undefined to leave the event out' : ''
    return wrongType(`${who} must return text or bytes (a Uint8Array)${more}, not ${showValue(written)}`)
  }
}
