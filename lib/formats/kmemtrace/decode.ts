import { Input } from '../../bytes/input.js'
import type { EventBatch } from '../../event/batch.js'
import { describe, malformed, truncated, type TracePosition } from '../../event/error.js'
import { checkOptions, type OptionNames } from '../../event/options.js'
import type { Decoder } from '../../event/stage.js'
import { locateRecords } from './detect.js'
import { FORMAT, LAYOUTS, coreSize, headerOf, type KmemtraceLayout } from './layout.js'
import { RecordReader } from './records.js'

/** Options of the decoder. */
export interface KmemtraceDecodeOptions {
  /** The layout of the records. Default: detected from the first records. */
  layout?: KmemtraceLayout['layout']
  /** The byte order of the recording machine. Default: detected. */
  byteOrder?: KmemtraceLayout['byteOrder']
  /** Bytes of a `long` in `ftrace` records. Default: detected. Nothing is detected if all three are given. */
  wordSize?: KmemtraceLayout['wordSize']
  /** The CPU whose file this is, for every event of a `relay` stream; `ftrace` records contain the CPU. */
  cpu?: number
}

const OPTIONS: OptionNames<KmemtraceDecodeOptions> = {
  layout: 'string',
  byteOrder: 'string',
  wordSize: 'number',
  cpu: 'number',
}

/** kmemtrace's binary records to events: one per-CPU file, or several concatenated. */
export class KmemtraceDecoder implements Decoder {
  /**
   * Reports the position of the first all-zero record, the number of these, and the position of the first bytes that
   * are not features.
   */
  readonly warnings: string[] = []
  private readonly input = new Input()
  private readonly layouts: readonly KmemtraceLayout[]
  /** Once the layout is known. */
  private reader: RecordReader | undefined
  /** No batch has carried the header yet. */
  private headerIsNew = true
  /** Events in the batches delivered. */
  private delivered = 0
  private wasCut = false
  /** Nothing more can be read until more input arrives. */
  private starved = false
  /** No more records will be read. */
  private closed = false
  private fault: Error | undefined

  constructor(private readonly options: KmemtraceDecodeOptions = {}) {
    checkOptions(options, OPTIONS, 'KmemtraceDecoder')
    const { layout, byteOrder, wordSize } = options
    this.layouts = LAYOUTS.filter(
      (one) =>
        (layout === undefined || one.layout === layout) &&
        (byteOrder === undefined || one.byteOrder === byteOrder) &&
        (wordSize === undefined || one.wordSize === wordSize || one.layout === 'relay'),
    )
    if (this.layouts.length === 0) {
      throw new RangeError(`no records have layout ${layout}, byteOrder ${byteOrder} and wordSize ${wordSize}`)
    }
  }

  feed(chunk: Uint8Array): void {
    this.input.feed(chunk)
    this.starved = false
  }

  end(): void {
    this.input.ended = true
    this.starved = false
  }

  endTruncated(): void {
    this.wasCut = true
    this.end()
  }

  detach(): void {
    this.input.detach()
  }

  next(): EventBatch | null {
    const batch = this.starved || this.closed ? undefined : this.read()
    if (batch !== undefined && (batch.count > 0 || this.headerIsNew)) {
      this.headerIsNew = false
      this.delivered += batch.count
      return batch
    }
    if (this.fault !== undefined) throw this.fault
    return null
  }

  /** Reads a batch from the available input. */
  private read(): EventBatch | undefined {
    const { input } = this
    const reader = this.reader ?? this.begin()
    if (reader === undefined) {
      this.starved = true
      return undefined
    }
    const before = reader.stray
    const batch = reader.read(input, input.ended)
    if (reader.stray !== before) {
      const at = { format: FORMAT, offset: reader.stray, event: this.delivered + reader.strayRow + 1 }
      const told =
        'the bytes behind this record are no features; they are carried as they are, and further ones are not told'
      this.warnings.push(`${describe(at)}: ${told}`)
    }
    if (!reader.full) {
      this.starved = true
      if (reader.fault !== undefined || input.ended) this.close(reader, this.behind(batch))
    }
    return batch
  }

  /** Detects the layout, unless that needs more input. */
  private begin(): RecordReader | undefined {
    const { input, layouts } = this
    const { found, pos } = locateRecords(layouts, input.bytes, input.pos, input.end, input.ended)
    input.pos = pos
    if (found === 'short') return undefined
    const layout = found === 'bad' ? (layouts[0] as KmemtraceLayout) : found
    const cpu = layout.layout === 'relay' ? this.options.cpu : undefined
    this.reader = new RecordReader(layout, headerOf(layout, cpu), cpu)
    if (input.offset > 0) this.reader.addZeros(input.offset / coreSize(layout), 0)
    if (found === 'bad') this.reader.fault = 'no byte order and layout makes a record of this'
    return this.reader
  }

  /** The input is complete: adds an event for all-zero records, and reports a fault after them (`behind`). */
  private close(reader: RecordReader, behind: TracePosition): void {
    if (reader.allZeros > 0) {
      const at = { format: FORMAT, offset: reader.firstZero }
      const n = reader.allZeros
      this.warnings.push(`${describe(at)}: the first of ${n} all-zero records, in whose place the recorder lost events`)
    }
    this.closed = true
    // If the input was truncated by an error elsewhere, that error is reported, not its symptom here.
    if (this.wasCut) return
    if (reader.fault !== undefined) this.fault = malformed(reader.fault, behind)
    else if (this.input.left > 0) this.fault = truncated('the input ends within a record', behind)
  }

  /** The place of the event that comes after those of a batch. */
  private behind(batch: EventBatch): TracePosition {
    return { format: FORMAT, offset: this.input.offset, event: this.delivered + batch.count + 1 }
  }
}
