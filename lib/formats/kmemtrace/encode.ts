import type { EventBatch } from '../../event/batch.js'
import { unencodable } from '../../event/error.js'
import type { TraceHeader } from '../../event/header.js'
import { AddressedLosses, spacesTold } from '../../blocks/addressed-losses.js'
import type { Losses } from '../../kernel/losses.js'
import type { Encoder } from '../../event/stage.js'
import { ENCODE_OPTIONS, type EncodeOptions } from '../../event/format.js'
import { checkOptions, type OptionNames } from '../../event/options.js'
import * as Layout from './layout.js'
import { RecordList } from './to-records.js'
import { Recognition } from './recognition.js'
import { RecordWriter } from './write.js'

/** Options of the encoder. Defaults are taken from the header of the trace, if it is of this format. */
export interface KmemtraceEncodeOptions extends EncodeOptions {
  /** Default `relay`. */
  layout?: Layout.KmemtraceLayout['layout']
  /** Default `little`. */
  byteOrder?: Layout.KmemtraceLayout['byteOrder']
  /** Bytes of a `long` in `ftrace` records. Default 8. */
  wordSize?: Layout.KmemtraceLayout['wordSize']
  /** The CPU that the stream stands for, by its file's name: `relay` records cannot represent it. */
  cpu?: number
}

const NOTHING = new Uint8Array(0)

const OPTIONS: OptionNames<KmemtraceEncodeOptions> = {
  ...ENCODE_OPTIONS,
  ...Layout.LAYOUT_OPTIONS,
}

/** Events to kmemtrace's binary records: one stream, such as one per-CPU file. */
export class KmemtraceEncoder implements Encoder {
  readonly losses: Losses
  readonly consumes = true
  private header: TraceHeader | undefined
  /** Whether another trace has begun, and none of its events has arrived yet. */
  private beginsAnother = false
  /** Set when the first batch is fed. */
  private recordList: RecordList | undefined
  private writer: RecordWriter | undefined
  private layout = Layout.DEFAULT_LAYOUT
  private recognition: Recognition | undefined
  /** The batch that is being written. */
  private batch: EventBatch | undefined
  /** Thrown after the output of the events before it. */
  private fault: unknown

  constructor(private readonly options: KmemtraceEncodeOptions = {}) {
    checkOptions(options, OPTIONS, 'KmemtraceEncoder')
    const carried = Layout.carriedBy(options.layout ?? Layout.DEFAULT_LAYOUT.layout, options.cpu !== undefined)
    this.losses = new AddressedLosses(spacesTold(carried), Layout.FORMAT, carried, options.strict)
  }

  feed(batch: EventBatch): void {
    const { losses } = this
    try {
      if (this.header !== undefined && this.header !== batch.header) this.beginsAnother = true
      this.header = batch.header
      const recordList = (this.recordList ??= this.begin(batch.header))
      this.writer?.begin(batch, recordList)
      if (this.beginsAnother && batch.count > 0) {
        const n = this.writer?.count(batch)
        if (n !== 0) {
          this.beginsAnother = false
          losses.countEvent('beginning of another trace', batch, 0)
        }
      }
      this.batch = batch
    } catch (error) {
      this.fault = error
    }
  }

  dispose(): void {
    this.losses.dispose()
  }

  next(): Uint8Array | null {
    const { batch, recordList, writer } = this
    if (batch !== undefined && recordList !== undefined && writer !== undefined) {
      const written = writer.write(batch, recordList)
      if (writer.isDone(recordList)) {
        this.batch = undefined
        this.fault = writer.fault ?? this.fault
      }
      this.recognise(written)
      if (written.length > 0) return written
    }
    if (this.fault !== undefined) throw this.fault
    return null
  }

  end(): void {
    this.recognise(NOTHING, true)
  }

  endTruncated(): void {
    // Nothing is held back.
  }

  /** Counts a loss as soon as it is certain that readers will not detect the layout from the output. */
  private recognise(written: Uint8Array, ended = false): void {
    if (this.recognition === undefined || this.recognition.check(written, ended)) return
    const { layout, byteOrder, wordSize } = this.layout
    const words = layout === 'ftrace' ? `, word size ${wordSize}` : ''
    const options = `layout ${layout}, byte order ${byteOrder}${words}`
    const reason = `layout, which the records do not show: read them with ${options}`
    try {
      if (this.batch !== undefined) this.writer?.count(this.batch)
      this.losses.countTrace(reason)
    } catch (error) {
      this.fault ??= error
    }
  }

  /** The first header determines the layout of all records. */
  private begin(header: TraceHeader): RecordList {
    const { cpu } = this.options
    const layout = Layout.layoutFor(header, this.options)
    if (typeof layout === 'string') throw unencodable(layout, { format: Layout.FORMAT, event: 1 })
    this.losses.use(Layout.carriedBy(layout.layout, cpu !== undefined), Layout.filledBy(layout.layout, cpu))
    this.losses.useUnit('ns')
    this.layout = layout
    this.recognition = new Recognition(layout)
    this.writer = new RecordWriter(layout, cpu, this.losses)
    return new RecordList(layout, cpu, this.losses)
  }
}
