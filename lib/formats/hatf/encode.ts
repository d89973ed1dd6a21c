import * as Code from '../../kernel/layouts/hatf.js'
import { Sink } from '../../bytes/sink.js'
import type { TraceHeader } from '../../event/header.js'
import { ALL_FIELDS, fieldSet, KINDS } from '../../event/fields.js'
import type { Carried } from '../../event/losses.js'
import { AddressedLosses, spacesTold } from '../../blocks/addressed-losses.js'
import type { Losses } from '../../kernel/losses.js'
import type { EventBatch } from '../../event/batch.js'
import type { Encoder } from '../../event/stage.js'
import { KERNEL_EVENTS } from '../../kernel/load.js'
import { ENCODE_OPTIONS, type EncodeOptions } from '../../event/format.js'
import { checkOptions, type OptionNames } from '../../event/options.js'
import { RecordData } from './record-data.js'
import { headerComment } from './extra-fields.js'
import { hatfKernel, KernelState } from './kernel.js'
import { CARRIED, MAX_BYTES } from './layout.js'
import { configure, looksAhead } from './plan/configure.js'
import { strategiesOf, type StrategyOptions } from './plan/strategies.js'
import { Records, WINDOW_RECORDS } from './records.js'

export interface HatfEncodeOptions extends EncodeOptions, StrategyOptions {
  /**
   * Keep what HATF cannot represent: fields in the records' attributes, events and the trace header in comments.
   * `HatfDecoder` restores exactly the same events. Default false: losses are counted and dropped.
   */
  attributes?: boolean
  /**
   * Write each batch as soon as it arrives, for live input. Default false: wait for a full window of records before
   * choosing layouts. That takes fewer bytes, and the result does not depend on how events are divided into batches.
   */
  latency?: boolean
}

const OPTIONS: OptionNames<HatfEncodeOptions> = {
  ...ENCODE_OPTIONS,
  preset: 'string',
  sizeEncoding: 'string',
  addressEncoding: 'string',
  threadEncoding: 'string',
  heapEncoding: 'string',
  timeEncoding: 'string',
  attributesEncoding: 'string',
  attributes: 'boolean',
  latency: 'boolean',
}

const ALL_CARRIED: Carried = Object.fromEntries(KINDS.map((kind) => [kind, ALL_FIELDS]))

/** The fields that records can have. */
const LOWERED = fieldSet('size', 'address', 'oldAddress', 'outcome', 'thread', 'heap', 'time')

/** With this many bytes of attributes and comments, a window is complete even if it has few records. */
const WINDOW_BYTES = 1 << 20

/** The number of records created before they are written, where no lookahead is needed. */
const BLOCK_RECORDS = 256

/** Writes events as HATF 1.0. */
export class HatfEncoder implements Encoder {
  readonly losses: Losses
  readonly consumes = true
  private readonly kernel = hatfKernel()
  private readonly state: KernelState
  private readonly records = new Records(this.kernel)
  private readonly recordData: RecordData
  private readonly attributes: boolean
  private readonly sink = new Sink(4096)
  private readonly looksAhead: boolean
  /** The number of records to collect before they are written. */
  private readonly full: number
  /** Write each batch as it arrives. */
  private readonly live: boolean
  private header: TraceHeader | undefined
  private hasWritten = false
  private fault: Error | undefined

  /** @throws RangeError when the options name an unknown preset or strategy, or the window is not a whole number */
  constructor(options: HatfEncodeOptions = {}) {
    checkOptions(options, OPTIONS, 'HatfEncoder')
    const strategies = strategiesOf(options)
    this.state = new KernelState(this.kernel, (run) => configure(run, strategies))
    const window = Math.min(options.window ?? WINDOW_RECORDS, WINDOW_RECORDS)
    this.looksAhead = looksAhead(strategies)
    this.full = !this.looksAhead ? BLOCK_RECORDS : window === 0 ? WINDOW_RECORDS : window
    this.live = !this.looksAhead || window === 0 || (options.latency ?? false)
    this.attributes = options.attributes ?? false
    const carried = this.attributes ? ALL_CARRIED : CARRIED
    this.losses = new AddressedLosses(spacesTold(carried), 'hatf', carried, options.strict)
    if (!this.attributes) this.losses.useUnit(null)
    this.losses.keepsHeaders = this.attributes
    this.recordData = new RecordData(this.losses, this.attributes)
  }

  feed(batch: EventBatch): void {
    const { losses, records, sink } = this
    const count = losses.countBatch(batch)
    if (count < batch.count) this.fault = losses.errorFor(batch, count)
    this.enter()
    try {
      if (batch.header !== this.header) this.begin(batch)
      for (let from = 0; from < count; from += KERNEL_EVENTS)
        this.makeRecords(batch, from, Math.min(count, from + KERNEL_EVENTS))
    } catch (error) {
      this.fault = error as Error
    }
    this.hasWritten ||= records.count > 0 || sink.pos > 0
    if (this.live || this.fault !== undefined) this.write()
    this.state.take()
  }

  dispose(): void {
    this.losses.dispose()
  }

  /**
   * The bytes of the records that could be written.
   * @throws TraceError when an event or field cannot be written in strict mode
   */
  next(): Uint8Array | null {
    if (this.sink.pos > 0) return this.sink.handOver()
    if (this.fault !== undefined) throw this.fault
    return null
  }

  end(): void {
    this.enter()
    this.write()
    this.state.take()
  }

  endTruncated(): void {
    this.end()
  }

  /** Takes over the kernel from its previous user. */
  private enter(): void {
    this.state.put()
    this.records.enter()
  }

  /**
   * Creates the records of the events from `from` to `to`, for which the kernel has room, and writes all except the
   * last ones.
   */
  private makeRecords(batch: EventBatch, from: number, to: number): void {
    const { recordData, full, records } = this
    const { columns, run } = this.kernel
    const { data } = recordData
    const n = to - from
    columns.put(batch, from, to, LOWERED)
    for (let i = 0; i < n;) {
      if (records.count >= full || data.pos >= WINDOW_BYTES) this.write()
      if (!this.looksAhead && records.count === 0) {
        i = this.stream(i, n)
        if (i === n) break
      }
      i = run.toRecords(i, n, records.count, full, data.pos, this.attributes)
      records.count = run.records.value
      const todo = run.todo.value
      if (todo === Code.NOTHING) continue
      const dataBefore = data.pos
      try {
        if (todo === Code.ATTRIBUTES_OF) {
          recordData.attributes(batch, from + i - 1, run.rest.value, run.without.value)
          records.endData(data.pos)
        } else if (recordData.comment(batch, from + i - 1)) {
          this.addComment()
        }
      } catch (error) {
        records.count = run.recordsBefore.value
        data.pos = dataBefore
        throw error
      }
    }
  }

  /** Writes events whose records need not be stored. @returns the first event for which this is not possible */
  private stream(i: number, n: number): number {
    const { output, run } = this.kernel
    for (;;) {
      i = run.stream(i, n, this.attributes)
      this.sink.append(output.subarray(0, run.written.value))
      if (i === n || run.blocked.value !== 0) return i
    }
  }

  /** Lays out and writes the collected records. */
  private write(): void {
    const { recordData, records, sink } = this
    const { output, run } = this.kernel
    const { data } = recordData
    const { count } = records
    records.restore()
    run.plan(count)
    let dataFrom = 0
    let dataTo = 0
    for (let r = 0; r < count;) {
      r = run.write(r, count, dataFrom, dataTo)
      sink.append(output.subarray(0, run.written.value))
      if (r < count && records.dataEnd(r) > dataTo) {
        dataFrom = r === 0 ? 0 : records.dataEnd(r - 1)
        dataTo = Math.min(data.pos, dataFrom + run.DATA_BYTES.value)
        new Uint8Array(run.memory.buffer, run.DATA.value).set(data.bytes.subarray(dataFrom, dataTo))
      }
    }
    records.clear()
    data.pos = 0
  }

  /** Adds a comment record, whose text is the end of the data. */
  private addComment(): void {
    const { recordData, kernel, records } = this
    records.count = kernel.run.addComment(records.count, recordData.data.pos)
  }

  /** Starts another trace. Its header is kept as a comment, unless it is the default header. */
  private begin(batch: EventBatch): void {
    const before = this.header
    this.header = batch.header
    if (!this.attributes && before !== undefined) this.losses.countEvent('beginning of another trace', batch, 0)
    if (!this.attributes || (before === undefined && isDefault(batch.header))) return
    // Many traces without events must not overflow the kernel's records.
    if (this.records.count + 2 > this.kernel.run.MAX_RECORDS.value) this.write()
    // Without this, a trace with neither header nor events would be invisible before the header of the next.
    if (before !== undefined && !this.hasWritten) this.addHeader(before, batch)
    this.addHeader(batch.header, batch)
  }

  private addHeader(header: TraceHeader, batch: EventBatch): void {
    const comment = headerComment(header)
    if (comment.length > MAX_BYTES) {
      this.losses.countEvent(`a trace header longer than ${MAX_BYTES} bytes`, batch, 0)
      return
    }
    this.recordData.data.append(comment)
    this.addComment()
  }
}

function isDefault({ format, timeUnit, layout }: TraceHeader): boolean {
  return format === 'hatf' && timeUnit === undefined && layout === undefined
}
