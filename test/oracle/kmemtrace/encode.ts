import { Sink } from '../../../lib/bytes/sink.js'
import type { EventBatch } from '../../../lib/event/batch.js'
import { unencodable } from '../../../lib/event/error.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { AddressedLosses, spacesTold } from '../../../lib/blocks/addressed-losses.js'
import type { Losses } from '../../../lib/kernel/losses.js'
import type { Encoder } from '../../../lib/event/stage.js'
import type { EncodeOptions } from '../../../lib/event/format.js'
import {
  DEFAULT_LAYOUT,
  FORMAT,
  carriedBy,
  filledBy,
  layoutFor,
  type KmemtraceLayout,
} from '../../../lib/formats/kmemtrace/layout.js'
import { Recognition } from '../../../lib/formats/kmemtrace/recognition.js'
import { RecordList } from './to-records.js'
import { RecordWriter, SINK_BYTES } from './write.js'

/** What an encoder can be told. What is not given is as the header of the trace says, if that is one of this format. */
export interface KmemtraceEncodeOptions extends EncodeOptions {
  /** Default `relay`. */
  layout?: KmemtraceLayout['layout']
  /** Default `little`. */
  byteOrder?: KmemtraceLayout['byteOrder']
  /** Bytes of a `long` in `ftrace` records. Default 8. */
  wordSize?: KmemtraceLayout['wordSize']
  /** The CPU that the stream stands for, by its file's name: `relay` records cannot represent it. */
  cpu?: number
}

/** Events to kmemtrace's binary records: one stream, such as one per-CPU file. */
export class KmemtraceEncoder implements Encoder {
  readonly losses: Losses
  private readonly sink = new Sink(SINK_BYTES)
  private header: TraceHeader | undefined
  /** Once the first batch was fed. */
  private recordList: RecordList | undefined
  private beginsAnother = false
  private writer: RecordWriter | undefined
  private layout = DEFAULT_LAYOUT
  private recognition: Recognition | undefined
  /** What is still to be written of. */
  private batch: EventBatch | undefined
  /** To be thrown when what was before it is written. */
  private fault: unknown

  constructor(private readonly options: KmemtraceEncodeOptions = {}) {
    const carried = carriedBy(options.layout ?? DEFAULT_LAYOUT.layout, options.cpu !== undefined)
    this.losses = new AddressedLosses(spacesTold(carried), FORMAT, carried, options.strict)
  }

  feed(batch: EventBatch): void {
    const { losses } = this
    try {
      if (this.header !== undefined && this.header !== batch.header) this.beginsAnother = true
      this.header = batch.header
      const recordList = (this.recordList ??= this.begin(batch.header))
      const n = losses.countBatch(batch)
      if (this.beginsAnother && n > 0) {
        this.beginsAnother = false
        losses.countEvent('beginning of another trace', batch, 0)
      }
      this.batch = batch
      recordList.fill(batch, n)
      if (n < batch.count) this.fault = losses.errorFor(batch, n)
    } catch (error) {
      this.fault = error
    }
  }

  next(): Uint8Array | null {
    const { batch, recordList, writer, sink } = this
    if (batch !== undefined && writer?.write(batch, recordList as RecordList) === true) this.batch = undefined
    if (sink.pos > 0) {
      const written = sink.take()
      this.recognise(written)
      return written
    }
    if (this.fault !== undefined) throw this.fault
    return null
  }

  end(): void {
    this.recognise(new Uint8Array(0), true)
  }

  private recognise(written: Uint8Array, ended = false): void {
    if (this.recognition === undefined || this.recognition.check(written, ended)) return
    const { layout, byteOrder, wordSize } = this.layout
    const words = layout === 'ftrace' ? `, word size ${wordSize}` : ''
    try {
      this.losses.countTrace(
        `layout, which the records do not show: read them with layout ${layout}, byte order ${byteOrder}${words}`,
      )
    } catch (error) {
      this.fault ??= error
    }
  }

  endTruncated(): void {
    // Nothing is held back.
  }

  /** The first header says how all records are laid out. */
  private begin(header: TraceHeader): RecordList {
    const { cpu } = this.options
    const layout = layoutFor(header, this.options)
    if (typeof layout === 'string') throw unencodable(layout, { format: FORMAT, event: 1 })
    this.losses.use(carriedBy(layout.layout, cpu !== undefined), filledBy(layout.layout, cpu))
    this.losses.useUnit('ns')
    this.layout = layout
    this.recognition = new Recognition(layout)
    this.writer = new RecordWriter(layout, cpu ?? 0, this.sink)
    return new RecordList(layout, cpu, this.losses)
  }
}
