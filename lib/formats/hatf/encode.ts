import { Sink } from '../../bytes/sink.js'
import type { TraceHeader } from '../../event/header.js'
import { ALL_FIELDS, KINDS } from '../../event/fields.js'
import { Losses, type Carried } from '../../event/losses.js'
import type { EventBatch } from '../../event/batch.js'
import type { Encoder } from '../../event/stage.js'
import type { EncodeOptions } from '../format.js'
import { headerComment } from './extras.js'
import { FieldStates } from './fields.js'
import { CARRIED, MAX_BYTES } from './layout.js'
import { Lowering, MAX_RECORDS } from './lower.js'
import { Plan, plainPlanner, type Planner } from './plan.js'
import { Records } from './records.js'
import { writeComment, writeRecords } from './write.js'

/** What the encoder can be told. */
export interface HatfEncodeOptions extends EncodeOptions {
  /**
   * Keep what HATF has no place for: fields in the records' attributes, events and the trace header in comments.
   * `HatfDecoder` gives back the very same events. Default false: they are counted and left out.
   */
  attributes?: boolean
}

const ALL_CARRIED: Carried = Object.fromEntries(KINDS.map((kind) => [kind, ALL_FIELDS]))

/** Writes events as HATF 1.0. */
export class HatfEncoder implements Encoder {
  readonly losses: Losses
  private readonly attributes: boolean
  private readonly lowering: Lowering
  private readonly records = new Records()
  private readonly plan = new Plan()
  private readonly fields = new FieldStates()
  private readonly sink = new Sink()
  private header: TraceHeader | undefined
  private hasWritten = false
  private fault: Error | undefined

  /** @param planner decides how the fields are laid out */
  constructor(options: HatfEncodeOptions = {}, private readonly planner: Planner = plainPlanner) {
    this.attributes = options.attributes ?? false
    this.losses = new Losses('hatf', this.attributes ? ALL_CARRIED : CARRIED, options.strict)
    this.lowering = new Lowering(this.losses, this.attributes)
  }

  feed(batch: EventBatch): void {
    const { records, plan } = this
    const count = this.losses.admit(batch)
    if (count < batch.count) this.fault = this.losses.refusal(batch, count)
    records.reset(MAX_RECORDS * count)
    try {
      if (batch.header !== this.header) this.begin(batch)
      this.lowering.lower(batch, count, records)
    } catch (error) {
      this.fault = error as Error
    }
    plan.reset()
    this.planner.plan(records, this.fields, plan)
    writeRecords(records, plan, this.fields, this.sink)
    this.hasWritten ||= this.sink.pos > 0
  }

  /** The bytes of the batch that was fed last. @throws TraceError when an event or field cannot be written in strict mode */
  next(): Uint8Array | null {
    if (this.sink.pos > 0) return this.sink.take()
    if (this.fault !== undefined) throw this.fault
    return null
  }

  end(): void {}

  cut(): void {}

  /** Another trace begins: its header is kept as a comment, unless it is what a stream without one has anyway. */
  private begin(batch: EventBatch): void {
    const before = this.header
    this.header = batch.header
    if (!this.attributes || (before === undefined && isDefault(batch.header))) return
    // A trace without header or events would not be seen in front of another one's header.
    if (before !== undefined && !this.hasWritten) this.writeHeader(before, batch)
    this.writeHeader(batch.header, batch)
  }

  private writeHeader(header: TraceHeader, batch: EventBatch): void {
    const comment = headerComment(header)
    if (comment.length > MAX_BYTES) this.losses.note(`a trace header longer than ${MAX_BYTES} bytes`, batch, 0)
    else writeComment(this.sink, comment)
  }
}

function isDefault({ format, timeUnit, layout }: TraceHeader): boolean {
  return format === 'hatf' && timeUnit === undefined && layout === undefined
}
