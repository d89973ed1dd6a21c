import { BATCH_STRING_BYTES, EventBatch, type TraceEvent } from '../../event/batch.js'
import { limit, malformed, truncated, type TraceError, type TracePosition } from '../../event/error.js'
import { NO_HEADER } from '../../event/header.js'
import { decodeText } from '../../event/strings.js'
import { KERNEL_EVENTS } from '../../kernel/load.js'
import { LF } from '../../text/ascii.js'
import { LineDecoder } from '../../text/line-decoder.js'
import type { WireRecord } from '../../event/json-record.js'
import { isWhole, LONG_DIGITS, parseRecord } from './general.js'
import { FULL, ndjsonKernel, NoRoom, RARE, type NdjsonMemory } from './kernel.js'
import { MAX_LINE_BYTES } from './layout.js'
import { UNUSUAL } from './rows.js'
import { Sequence } from './sequence.js'

const NO_EVENTS = new EventBatch(0, 0, NO_HEADER)

/**
 * NDJSON to events. The kernel reads lines as heapflow writes them, with any spaces and with other fields in any order
 * after `kind`, straight into its columns. Any other line goes through `JSON.parse`, and its event is added to the same
 * columns.
 *
 * @throws TraceError with line, offset and event number: a line that is no record, one of more than 4 MiB, a header
 *   record without its end record
 */
export class NdjsonDecoder extends LineDecoder {
  private readonly sequence = new Sequence(this.warnings, (pending) => this.here(pending))
  /**
   * The number of events in the kernel's columns while `read` runs, and the fields of the events that the kernel did
   * not read.
   */
  private count = 0
  private fields = 0
  /** An event that the kernel has no room for. */
  private alone: EventBatch | undefined

  constructor() {
    // A last line without a line feed is complete if it is a record.
    super('ndjson', MAX_LINE_BYTES, { lastLine: true })
  }

  /** Only a header record gives one. */
  protected override emptyHeader(): undefined {
    return undefined
  }

  protected override isNews(batch: EventBatch): boolean {
    if (!this.sequence.worthGiving(batch)) return false
    this.sequence.give(batch)
    return true
  }

  /** @throws TraceError if the end record is missing */
  protected override finish(): void {
    if (this.input.offset === 0) throw truncated('the input is empty', this.here())
    this.sequence.finish()
  }

  protected override here(pending = 0): Required<TracePosition> {
    const { column: _, ...here } = super.here(pending)
    return here as Required<TracePosition>
  }

  protected override read(): EventBatch {
    const kernel = ndjsonKernel()
    kernel.run.begin()
    this.count = 0
    this.fields = 0
    this.alone = undefined
    kernel.events.groups?.mask.fill(0)
    try {
      this.readLines(kernel)
    } catch (error) {
      this.failure = error as TraceError
    }
    return this.alone ?? (this.worthGiving() ? this.newBatch(kernel) : NO_EVENTS)
  }

  private worthGiving(): boolean {
    return this.sequence.worthGiving({ count: this.count, header: this.sequence.header })
  }

  private newBatch(kernel: NdjsonMemory): EventBatch {
    const fields = this.fields | kernel.run.fields.value
    const batch = kernel.kernel.columns.take(this.count, fields, this.sequence.header, kernel.takeStrings())
    batch.groups = kernel.events.groups?.slice(0, this.count)
    return batch
  }

  /** Reads whole lines until the batch is full, another batch has to be delivered first, or there are no more. */
  private readLines(kernel: NdjsonMemory): void {
    const { input, sequence } = this
    while (input.pos < this.linesEnd) {
      // No line may follow the end record. The general path reports it.
      const stop = sequence.ended ? RARE : this.readByKernel(kernel)
      if (stop === FULL || (stop === RARE && this.count === KERNEL_EVENTS)) return
      if (stop === RARE && !this.readGeneral(kernel, input.bytes.indexOf(LF, input.pos) + 1)) return
    }
  }

  /** Passes as many lines to the kernel as there is room for. @returns why it stopped */
  private readByKernel({ run, kernel }: NdjsonMemory): number {
    const { input, count } = this
    const from = kernel.input.load(input, this.linesEnd)
    this.count = run.decode(from, kernel.input.end, count, BATCH_STRING_BYTES)
    const length = run.position.value - from
    input.skip(length)
    this.line += this.count - count + run.emptyLines.value
    const stop = run.stop.value
    // A line that does not end within the kernel's memory is too long for it.
    return stop === 0 && length === 0 ? RARE : stop
  }

  /**
   * Reads the line that ends before `end` in any form.
   * @returns false when the events so far have to be delivered before another line is read; this line may have to be
   *   read again then
   */
  private readGeneral(kernel: NdjsonMemory, end: number): boolean {
    const { input } = this
    // The limit was checked before only for lines that came in several chunks.
    if (end - 1 - input.pos > MAX_LINE_BYTES) throw this.tooLong(this.count)
    const text = decodeText(input.bytes.subarray(input.pos, end)).trim()
    if (text !== '') {
      const isWhole = !this.unterminated || end < this.linesEnd
      const added = this.addQuickly(kernel, text) ?? this.addAny(kernel, text, isWhole)
      if (!added) return false
    }
    input.pos = end
    this.line++
    return this.alone === undefined
  }

  /**
   * Adds the event of a line without surprises.
   * @returns whether there was room; undefined for any other line
   */
  private addQuickly({ rows }: NdjsonMemory, text: string): boolean | undefined {
    const { sequence } = this
    if (sequence.ended || LONG_DIGITS.test(text)) return undefined
    try {
      const fields = rows.put(JSON.parse(text), text, this.count)
      if (fields === UNUSUAL) return undefined
      this.fields |= fields
      this.count++
      sequence.noteUnknown(rows.unknown)
      return true
    } catch {
      // Not JSON, or no room for its strings.
      return undefined
    }
  }

  /**
   * Reads a line in any form, and adds its event.
   * @returns false when the events so far have to be delivered first
   */
  private addAny(kernel: NdjsonMemory, text: string, whole: boolean): boolean {
    const { sequence } = this
    const record = this.parse(text, whole)
    if (record.kind === 'event') {
      sequence.checkOpen(this.count)
      if (!this.add(kernel, record.event)) return false
      sequence.noteUnknown(record.unknown)
      return true
    }
    if (this.worthGiving()) return false
    sequence.accept(record)
    return true
  }

  private parse(text: string, whole: boolean): WireRecord {
    try {
      return parseRecord(text)
    } catch (error) {
      const at = this.here(this.count)
      throw whole || isWhole(text)
        ? malformed((error as Error).message, at)
        : truncated('the input ends within a line', at)
    }
  }

  /** Adds an event to the kernel's columns. @returns false if there is no room beside the events so far */
  private add({ events }: NdjsonMemory, event: TraceEvent): boolean {
    events.count = this.count
    if (this.push(events, event)) {
      this.fields |= events.mask[this.count]
      this.count++
      return true
    }
    if (this.count > 0) return false
    this.alone = new EventBatch(1, 0, this.sequence.header)
    return this.push(this.alone, event)
  }

  /** Adds an event to a batch. @returns whether there was room for its strings. @throws TraceError for a limit */
  private push(batch: EventBatch, event: TraceEvent): boolean {
    try {
      batch.push(event)
      return true
    } catch (error) {
      if (error instanceof NoRoom) return false
      // Everything else about it was checked before.
      throw limit((error as Error).message, this.here(this.count))
    }
  }
}
