import { skipMark } from '../../bytes/byte-order-mark.js'
import { Input } from '../../bytes/input.js'
import { BATCH_STRING_BYTES, EventBatch, type TraceEvent } from '../../event/batch.js'
import { limit, malformed, truncated } from '../../event/error.js'
import type { Decoder } from '../../event/stage.js'
import { decodeText } from '../../event/strings.js'
import { KERNEL_EVENTS } from '../../kernel/load.js'
import { LONG_DIGITS, parseRecord, type WireRecord } from './general.js'
import { FULL, ndjsonKernel, NoRoom, RARE, type NdjsonMemory } from './kernel.js'
import { MAX_LINE_BYTES } from './layout.js'
import { UNUSUAL } from './rows.js'
import { Sequence } from './sequence.js'

const NEWLINE = 0x0a

/**
 * NDJSON to events. The kernel reads lines as heapflow writes them, with any spaces and with other fields in any order
 * after `kind`, straight into its columns. Any other line goes through `JSON.parse`, and its event is added to the same
 * columns.
 *
 * @throws TraceError with line, offset and event number: a line that is no record, one of more than 4 MiB, a header
 *   record without its end record
 */
export class NdjsonDecoder implements Decoder {
  private readonly input = new Input()
  private readonly sequence = new Sequence()
  private failure: Error | undefined
  /** The offset in the stream after the last newline in `input`. */
  private lines = 0
  /**
   * The number of events in the kernel's columns while `next` runs, and the fields of those that the kernel did not
   * read.
   */
  private count = 0
  private fields = 0
  /** An event that the kernel has no room for. */
  private alone: EventBatch | undefined

  get warnings(): readonly string[] {
    return this.sequence.warnings
  }

  feed(chunk: Uint8Array): void {
    const { input } = this
    input.feed(chunk)
    const newline = chunk.lastIndexOf(NEWLINE)
    if (newline >= 0) this.lines = input.offset + input.left - chunk.length + newline + 1
  }

  end(): void {
    this.input.ended = true
  }

  endTruncated(): void {
    // The rest is not a whole line. A missing end record needs no error, because upstream has already failed.
    this.input.pos = this.input.end
  }

  detach(): void {
    this.input.detach()
  }

  next(): EventBatch | null {
    if (this.failure !== undefined) throw this.failure
    const { input, sequence } = this
    const kernel = ndjsonKernel()
    kernel.run.begin()
    this.count = 0
    this.fields = 0
    this.alone = undefined
    skipMark(input)
    try {
      this.readLines(kernel)
    } catch (error) {
      this.failure = error as Error
    }
    if (this.alone !== undefined) return sequence.give(this.alone)
    if (this.worthGiving()) return sequence.give(this.newBatch(kernel))
    if (this.failure !== undefined) throw this.failure
    if (input.left > MAX_LINE_BYTES) throw limit(`a line of more than ${MAX_LINE_BYTES} bytes`, sequence.position(0))
    return null
  }

  private worthGiving(): boolean {
    return this.sequence.worthGiving({ count: this.count, header: this.sequence.header })
  }

  private newBatch(kernel: NdjsonMemory): EventBatch {
    const fields = this.fields | kernel.run.fields.value
    return kernel.kernel.columns.take(this.count, fields, this.sequence.header, kernel.takeStrings())
  }

  /** Reads whole lines until the batch is full, another batch has to be delivered first, or the input is used up. */
  private readLines(kernel: NdjsonMemory): void {
    const { input, sequence } = this
    while (input.offset < this.lines) {
      // No line may follow the end record. The general path reports it.
      const stop = sequence.ended ? RARE : this.readByKernel(kernel)
      if (stop === FULL || (stop === RARE && this.count === KERNEL_EVENTS)) return
      if (stop === RARE && !this.readGeneral(kernel, input.bytes.indexOf(NEWLINE, input.pos) + 1)) return
    }
    if (!input.ended) return
    if (input.left > 0 && (this.count === KERNEL_EVENTS || !this.readGeneral(kernel, input.end))) return
    if (this.count === 0) sequence.finish()
  }

  /** Passes as many lines to the kernel as there is room for. @returns why it stopped */
  private readByKernel({ run, kernel }: NdjsonMemory): number {
    const { input, sequence, count } = this
    const from = kernel.input.load(input, input.pos + this.lines - input.offset)
    this.count = run.decode(from, kernel.input.end, count, BATCH_STRING_BYTES)
    const length = run.position.value - from
    input.skip(length)
    sequence.lineDone(length, this.count - count + run.emptyLines.value)
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
    const { input, sequence } = this
    const line = input.bytes.subarray(input.pos, end)
    const text = decodeText(line).trim()
    if (text !== '') {
      const added = this.addQuickly(kernel, text) ?? this.addAny(kernel, text, line.at(-1) === NEWLINE)
      if (!added) return false
    }
    sequence.lineDone(end - input.pos)
    input.pos = end
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
      const at = this.sequence.position(this.count)
      throw whole ? malformed((error as Error).message, at) : truncated('the input ends within a line', at)
    }
  }

  /** Adds an event to the kernel's columns. @returns false if there is no room beside the events so far */
  private add({ events }: NdjsonMemory, event: TraceEvent): boolean {
    try {
      events.count = this.count
      events.push(event)
      this.fields |= events.mask[this.count] as number
      this.count++
      return true
    } catch (error) {
      if (!(error instanceof NoRoom)) throw error
      if (this.count > 0) return false
      this.alone = new EventBatch(1, 0, this.sequence.header)
      this.alone.push(event)
      return true
    }
  }
}
