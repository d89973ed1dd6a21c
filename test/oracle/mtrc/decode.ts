import { Input } from '../../../lib/bytes/input.js'
import type { EventBatch } from '../../../lib/event/batch.js'
import { describe, malformed, truncated, type TracePosition } from '../../../lib/event/error.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import type { Decoder } from '../../../lib/event/stage.js'
import { FORMAT, MAGIC, RECORD, headerLength, readHeader, type MtrcLayout } from '../../../lib/formats/mtrc/layout.js'
import { PADDING, RecordReader, Stop } from './records.js'

/** What a decoder can be told. */
export interface MtrcDecodeOptions {
  /**
   * Give frees and reallocations the address and size of the block that their index refers to. Costs memory in
   * proportion to the blocks that are live at once. Default true.
   */
  resolve?: boolean
}

/** At most this many warnings are kept. */
const MAX_WARNINGS = 100

/** mpatrol tracing output to events. Give it the bytes of one or more traces, one behind the other. */
export class MtrcDecoder implements Decoder {
  /** Says where a trace ends without its end marker because another one begins. */
  readonly warnings: string[] = []
  private readonly input = new Input()
  private readonly reader: RecordReader
  private header: TraceHeader | undefined
  /** No batch has brought this header yet. */
  private headerIsNew = false
  private batch: EventBatch | undefined
  /** Events in the batches given out, of the whole stream. */
  private delivered = 0
  /** What is left of the input is less than a record. */
  private starved = false
  private wasCut = false
  private fault: Error | undefined
  /** The unread rest of a chunk with padding behind it. */
  private rest = new Uint8Array(1024)

  constructor(options: MtrcDecodeOptions = {}) {
    this.reader = new RecordReader(options.resolve ?? true)
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
  }

  next(): EventBatch | null {
    if (this.fault === undefined && !this.starved && !this.wasCut) this.read()
    const { batch } = this
    if (batch !== undefined && (batch.count > 0 || this.headerIsNew)) {
      this.batch = undefined
      this.headerIsNew = false
      this.delivered += batch.count
      return batch
    }
    if (this.fault !== undefined) throw this.fault
    return null
  }

  /** Fills a batch as far as the input goes. */
  private read(): void {
    const { input } = this
    for (;;) {
      if (this.header === undefined) {
        this.readFirstHeader()
        if (this.header === undefined) return
      }
      if (input.left > 0 && input.bytes[input.pos] === RECORD.mark) {
        if (this.headerIsNew) {
          this.batch = this.reader.newBatch(this.header, 0)
          return
        }
        if (!this.readMark()) return
        continue
      }
      if (input.left === 0 && !this.headerIsNew) return this.starve('the end marker is missing')
      const batch = (this.batch ??= this.reader.newBatch(this.header, input.left))
      const stop = this.readRecords(batch)
      if (stop === Stop.short)
        this.starve(input.left === 0 ? 'the end marker is missing' : 'the input ends within a record')
      if (stop !== Stop.mark || batch.count > 0 || this.headerIsNew) return
    }
  }

  /** Reads records, up to where the input, the batch or the trace ends, or a fault. */
  private readRecords(batch: EventBatch): Stop {
    const { input, reader } = this
    input.pos = reader.read(batch, input.bytes, input.pos, input.end)
    if (reader.stop === Stop.short && input.left > 0) {
      const rest = this.padRest()
      input.pos += reader.read(batch, rest, 0, input.left)
    }
    if (reader.stop === Stop.fault) this.fault = reader.failure(this.here(batch.count))
    return reader.stop
  }

  /** The unread bytes with zeros behind them, in which any number that the end cuts off comes to an end. */
  private padRest(): Uint8Array {
    const { bytes, pos, end, left } = this.input
    if (this.rest.length < left + PADDING) this.rest = new Uint8Array(Math.max(left + PADDING, 2 * this.rest.length))
    this.rest.set(bytes.subarray(pos, end))
    this.rest.fill(0, left, left + PADDING)
    return this.rest.length === left + PADDING ? this.rest : this.rest.subarray(0, left + PADDING)
  }

  private readFirstHeader(): void {
    const { input } = this
    const layout = readHeader(input.bytes, input.pos, input.end)
    if (layout === 'bad') this.fault = malformed('not the header of a trace', this.here(0))
    else if (layout === 'short')
      this.starve(input.left === 0 ? 'the input is empty' : 'the input ends within the header')
    else this.beginTrace(layout, headerLength(layout))
  }

  /**
   * Reads an end marker, or the header of a trace that begins behind it or in its place.
   * @returns whether a trace began
   */
  private readMark(): boolean {
    const { input } = this
    const { bytes, pos, end } = input
    const inPlace = readHeader(bytes, pos, end)
    if (typeof inPlace === 'object') {
      this.warn('the trace has no end marker: another one begins here')
      this.beginTrace({ ...inPlace, follows: 'cut' }, headerLength(inPlace))
      return true
    }
    if (inPlace === 'short') {
      // The end marker alone is a whole end, if nothing follows.
      if (!(input.ended && input.left === MAGIC.length)) this.starve('the input ends within the end marker or a header')
      return false
    }
    if (MAGIC.some((byte, i) => bytes[pos + i] !== byte)) {
      this.fault = malformed('a record of unknown type 0x4d', this.here(0))
      return false
    }
    const behind = readHeader(bytes, pos + MAGIC.length, end)
    if (typeof behind === 'object') {
      this.beginTrace(behind, MAGIC.length + headerLength(behind))
      return true
    }
    if (behind === 'short') {
      this.starve('the input ends within the header of another trace')
    } else {
      input.pos += MAGIC.length
      this.fault = malformed('unexpected data after the end marker', this.here(0))
    }
    return false
  }

  private beginTrace(layout: MtrcLayout, length: number): void {
    this.input.pos += length
    this.header = { format: FORMAT, layout: { ...layout } }
    this.headerIsNew = true
    this.batch = undefined
    this.reader.beginTrace(layout)
  }

  /** Nothing more can be read before there is more input; without more to come, that is a fault. */
  private starve(reason: string): void {
    this.starved = true
    if (this.input.ended) this.fault = truncated(reason, this.here(this.batch?.count ?? 0))
  }

  private warn(text: string): void {
    const { warnings } = this
    if (warnings.length < MAX_WARNINGS - 1) warnings.push(`${describe(this.here(0))}: ${text}`)
    else if (warnings.length < MAX_WARNINGS)
      warnings.push(`${describe(this.here(0))}: ${text}; later ones are not reported`)
  }

  /** The place of the event that comes after `pending` more than were given out. */
  private here(pending: number): TracePosition {
    return { format: FORMAT, offset: this.input.offset, event: this.delivered + pending + 1 }
  }
}
