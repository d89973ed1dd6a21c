import { Input } from '../../../lib/bytes/input.js'
import type { EventBatch } from '../../../lib/event/batch.js'
import { describe, malformed, truncated, type TracePosition } from '../../../lib/event/error.js'
import type { Decoder } from '../../../lib/event/stage.js'
import { ZERO_GROUP, detectLayout } from '../../../lib/formats/kmemtrace/detect.js'
import { FORMAT, LAYOUTS, coreSize, headerOf, type KmemtraceLayout } from '../../../lib/formats/kmemtrace/layout.js'
import { RecordReader, isZero } from './records.js'

/** What a decoder can be told. */
export interface KmemtraceDecodeOptions {
  /** How the records are laid out; found out from the first records if it is not given. */
  layout?: KmemtraceLayout['layout']
  /** The byte order of the machine that recorded; found out likewise. */
  byteOrder?: KmemtraceLayout['byteOrder']
  /** The CPU whose file this is. Every event of a `relay` stream then has it; `ftrace` records say it themselves. */
  cpu?: number
}

/** kmemtrace's binary records to events: one per-CPU file, or anything that was put one behind the other. */
export class KmemtraceDecoder implements Decoder {
  /** Says where the first all-zero record is and how many there are, and where the first bytes that are no features. */
  readonly warnings: string[] = []
  private readonly input = new Input()
  private readonly layouts: readonly KmemtraceLayout[]
  /** Once the layout is known. */
  private reader: RecordReader | undefined
  /** No batch has brought the header yet. */
  private headerIsNew = true
  private batch: EventBatch | undefined
  /** Events in the batches given out. */
  private delivered = 0
  private wasCut = false
  /** Nothing more can be read before there is more input. */
  private starved = false
  /** No more records will be read. */
  private closed = false
  private fault: Error | undefined

  constructor(private readonly options: KmemtraceDecodeOptions = {}) {
    const { layout, byteOrder } = options
    const among = layout === undefined ? LAYOUTS : LAYOUTS.filter((one) => one.layout === layout)
    this.layouts = byteOrder === undefined ? among : among.filter((one) => one.byteOrder === byteOrder)
    if (this.layouts.length === 0) throw new RangeError(`no records have layout ${layout} and byteOrder ${byteOrder}`)
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

  next(): EventBatch | null {
    if (!this.starved && !this.closed) this.read()
    const { batch } = this
    if (batch !== undefined && (batch.count > 0 || this.headerIsNew)) {
      this.batch = undefined
      this.headerIsNew = false
      this.delivered += batch.count
      return batch
    }
    this.batch = undefined
    if (this.fault !== undefined) throw this.fault
    return null
  }

  /** Fills a batch as far as the input goes. */
  private read(): void {
    const { input } = this
    const reader = this.reader ?? this.begin()
    if (reader === undefined) {
      this.starved = true
      return
    }
    const batch = (this.batch ??= reader.newBatch(input.left))
    if (this.fault === undefined) {
      this.readRecords(reader, batch)
      if (reader.full) return
    }
    this.starved = true
    if (this.fault !== undefined || input.ended) this.close(reader, batch)
  }

  /** Finds out the layout, unless that takes more input. */
  private begin(): RecordReader | undefined {
    const { input, layouts } = this
    while (layouts.length > 1 && input.left >= ZERO_GROUP && isZero(input.bytes, input.pos, input.pos + ZERO_GROUP)) {
      input.pos += ZERO_GROUP
    }
    const found = detectLayout(layouts, input.bytes, input.pos, input.end, input.ended)
    if (found === 'short') return undefined
    const layout = found === 'bad' ? layouts[0] : found
    const cpu = layout.layout === 'relay' ? this.options.cpu : undefined
    this.reader = new RecordReader(layout, headerOf(layout, cpu), cpu)
    if (input.offset > 0) this.reader.addZeros(input.offset / coreSize(layout), 0)
    if (found === 'bad') {
      this.fault = malformed('no byte order and layout makes a record of this', this.behindZeros(this.reader, 0))
    }
    return this.reader
  }

  private readRecords(reader: RecordReader, batch: EventBatch): void {
    const { input } = this
    const before = reader.stray
    input.pos = reader.read(batch, input.bytes, input.pos, input.end, input.offset - input.pos)
    if (reader.fault !== undefined) this.fault = malformed(reader.fault, this.behindZeros(reader, batch.count))
    if (reader.stray !== before) {
      const at = { format: FORMAT, offset: reader.stray, event: this.delivered + reader.strayRow + 1 }
      const told = 'the bytes after this record are not features; they are kept, and later ones are not reported'
      this.warnings.push(`${describe(at)}: ${told}`)
    }
  }

  /** Nothing comes behind what was read: tells of the last all-zero records and of a record that is not whole. */
  private close(reader: RecordReader, batch: EventBatch): void {
    const { input } = this
    if (reader.allZeros > 0) {
      const at = { format: FORMAT, offset: reader.firstZero }
      const n = reader.allZeros
      this.warnings.push(`${describe(at)}: the first of ${n} all-zero records, in whose place the recorder lost events`)
    }
    reader.tellZeros(batch)
    this.closed = true
    if (this.fault === undefined && input.left > 0) {
      this.fault = truncated('the input ends within a record', this.here(batch.count))
    }
    // Where the input was truncated elsewhere, that is the error, and not what it looks like here.
    if (this.wasCut) this.fault = undefined
  }

  /** The place of what comes after the batch's events and that of all-zero records still to be told of. */
  private behindZeros(reader: RecordReader, pending: number): TracePosition {
    return this.here(pending + (reader.zeros > 0 ? 1 : 0))
  }

  /** The place of the event that comes after `pending` more than were given out. */
  private here(pending: number): TracePosition {
    return { format: FORMAT, offset: this.input.offset, event: this.delivered + pending + 1 }
  }
}
