import { Sink } from '../../../lib/bytes/sink.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { ALL_FIELDS, KINDS } from '../../../lib/event/fields.js'
import type { Carried } from '../../../lib/event/losses.js'
import { AddressedLosses, spacesTold } from '../../../lib/blocks/addressed-losses.js'
import type { Losses } from '../../../lib/kernel/losses.js'
import type { EventBatch } from '../../../lib/event/batch.js'
import type { Encoder } from '../../../lib/event/stage.js'
import type { EncodeOptions } from '../../../lib/event/format.js'
import { headerComment } from '../../../lib/formats/hatf/extra-fields.js'
import { FieldStates } from './fields.js'
import { CARRIED, MAX_BYTES } from '../../../lib/formats/hatf/layout.js'
import { RecordMaker, MAX_RECORDS } from './to-records.js'
import { Plan, type Planner } from './plan.js'
import { plannerFor } from './plan/planner.js'
import { strategiesOf, type StrategyOptions } from '../../../lib/formats/hatf/plan/strategies.js'
import { Records } from './records.js'
import { writeRecords } from './write.js'

/** What the encoder can be told. */
export interface HatfEncodeOptions extends EncodeOptions, StrategyOptions {
  /**
   * Keep what HATF cannot represent: fields in the records' attributes, events and the trace header in comments.
   * `HatfDecoder` gives back the very same events. Default false: they are counted and left out.
   */
  attributes?: boolean
  /**
   * Write each batch as soon as it comes, for live input. Default false: wait until there is a whole window of records
   * to choose the layouts for, which takes fewer bytes, and the same however the events were cut into batches.
   */
  latency?: boolean
}

const ALL_CARRIED: Carried = Object.fromEntries(KINDS.map((kind) => [kind, ALL_FIELDS]))

/** Writes events as HATF 1.0. */
export class HatfEncoder implements Encoder {
  readonly losses: Losses
  private readonly attributes: boolean
  private readonly maker: RecordMaker
  private readonly records = new Records()
  private readonly plan = new Plan()
  private readonly fields = new FieldStates()
  private readonly sink = new Sink()
  /** How many records to collect before they are written; 0 if they need not wait for others. */
  private readonly window: number
  private readonly latency: boolean
  private header: TraceHeader | undefined
  private hasWritten = false
  private fault: Error | undefined

  /**
   * @param planner decides how the fields are laid out, instead of the strategies of the options
   * @throws RangeError when the options name an unknown preset or strategy
   */
  constructor(
    options: HatfEncodeOptions = {},
    private readonly planner: Planner = plannerFor(strategiesOf(options)),
  ) {
    this.attributes = options.attributes ?? false
    this.latency = options.latency ?? false
    this.window = Math.min(planner.window ?? 0, options.window ?? Infinity)
    const carried = this.attributes ? ALL_CARRIED : CARRIED
    this.losses = new AddressedLosses(spacesTold(carried), 'hatf', carried, options.strict)
    if (!this.attributes) this.losses.useUnit(null)
    this.maker = new RecordMaker(this.losses, this.attributes)
  }

  feed(batch: EventBatch): void {
    const { losses, maker, records, sink } = this
    const full = this.window === 0 ? Infinity : this.window
    const count = losses.countBatch(batch)
    if (count < batch.count) this.fault = losses.errorFor(batch, count)
    try {
      if (batch.header !== this.header) this.begin(batch)
      for (let i = 0; i < count;) {
        records.reserve(MAX_RECORDS + Math.min(MAX_RECORDS * (count - i), full))
        i = maker.toRecords(batch, i, count, records, full)
        if (i < count) this.write()
      }
    } catch (error) {
      this.fault = error as Error
    }
    this.hasWritten ||= records.count > 0 || sink.pos > 0
    if (this.window === 0 || this.latency || this.fault !== undefined) this.write()
  }

  /**
   * The bytes of the records that could be written.
   * @throws TraceError when an event or field cannot be written in strict mode
   */
  next(): Uint8Array | null {
    if (this.sink.pos > 0) return this.sink.take()
    if (this.fault !== undefined) throw this.fault
    return null
  }

  end(): void {
    this.write()
  }

  endTruncated(): void {
    this.write()
  }

  /** Lays out and writes the records that have come together. */
  private write(): void {
    const { fields, plan, records } = this
    plan.reset()
    this.planner.plan(records, fields, plan)
    writeRecords(records, plan, fields, this.sink)
    records.clear()
  }

  /** Another trace begins: its header is kept as a comment, unless it is what a stream without one has anyway. */
  private begin(batch: EventBatch): void {
    const before = this.header
    this.header = batch.header
    if (!this.attributes && before !== undefined) this.losses.countEvent('beginning of another trace', batch, 0)
    if (!this.attributes || (before === undefined && isDefault(batch.header))) return
    // A trace without header or events would not be seen in front of another one's header.
    if (before !== undefined && !this.hasWritten) this.addHeader(before, batch)
    this.addHeader(batch.header, batch)
  }

  private addHeader(header: TraceHeader, batch: EventBatch): void {
    const comment = headerComment(header)
    if (comment.length > MAX_BYTES) this.losses.countEvent(`a trace header longer than ${MAX_BYTES} bytes`, batch, 0)
    else this.records.addComment(comment)
  }
}

function isDefault({ format, timeUnit, layout }: TraceHeader): boolean {
  return format === 'hatf' && timeUnit === undefined && layout === undefined
}
