import { InputReader } from '../../bytes/input.js'
import { doubleAt } from '../../bytes/u64.js'
import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch } from '../../event/batch.js'
import { describe, limit, malformed, truncated } from '../../event/error.js'
import type { TraceHeader } from '../../event/header.js'
import { checkOptions, wholeNumber, type OptionNames } from '../../event/options.js'
import type { Decoder } from '../../event/stage.js'
import * as Header from './header.js'
import { codecOf, type Codec } from '../generate/loops.js'
import { binaryPlan, Layouts, type Plan } from '../layout.js'
import type { Dtd } from '../model.js'
import { timeUnitOf } from '../names.js'
import { BinaryReader, FAULT, INCOMPLETE } from './reader.js'
import { TableSection, type ReadAt } from './table-section.js'
import { Tables } from './tables.js'

export interface BinaryDecodeOptions {
  /** Whether the trace begins with a header. Default: if it begins with the magic number. */
  header?: boolean
  /** The byte order of traces without a header. Default `big`. */
  byteOrder?: Header.ByteOrder
  /**
   * Reads from the same file again, so that tables of values for other records may be anywhere in it. Without this they
   * must come before the records that need them.
   */
  read?: ReadAt
  /**
   * The maximum number of bytes of such a table that may come before the records that need them, 8 for each element.
   * Default 64 MiB; `Infinity` for no limit.
   */
  buffer?: number
  /** The format's name in headers and messages. Default `metatf`. */
  format?: string
}

const OPTIONS: OptionNames<BinaryDecodeOptions> = {
  header: 'boolean',
  byteOrder: ['big', 'little'],
  read: 'function',
  buffer: { what: 'a number of bytes', is: (value) => value === Infinity || wholeNumber().is(value) },
  format: 'string',
}

const DEFAULT_BUFFER = 64 << 20

/** Further results of `fill`: the batch is full, or reading continues. */
const FULL = 1
const GO_ON = 0

/** An upper bound for the data records between two calls of generated code. */
const MANY = 0x3fff_ffff

const SMALLEST_CAPACITY = 16
/** The assumed bytes per event until some were read. */
const FIRST_MEAN = 9

const EVERYWHERE: Header.Span = { start: 0, end: Infinity, section: 0 }

/**
 * A pure decoder for the binary traces of a DTD.
 *
 * @throws RangeError if the DTD is not of version 1.0
 */
export function binaryDecoder(dtd: Dtd, options: BinaryDecodeOptions = {}): Decoder {
  return new BinaryDecoder(dtd, options)
}

/** Reads binary traces, with or without a header, by a DTD. */
export class BinaryDecoder extends InputReader implements Decoder {
  readonly warnings: string[] = []
  private readonly format: string
  private readonly plan: Plan
  private readonly layouts: Layouts
  private readonly tables: Tables
  private reader: BinaryReader
  private header: TraceHeader
  private readonly timeUnit: Pick<TraceHeader, 'timeUnit'>
  /** The header, once it was read; null for a trace without one. */
  private file: Header.FileHeader | null | undefined
  private spans: Header.Span[] = [EVERYWHERE]
  /** The index of the current span. */
  private at = 0
  /** Tables with their own part of the file. */
  private readonly listed = new Set<number>()
  private records = 0
  private batch: EventBatch | undefined
  private columns = 0
  private hasGiven = false
  private delivered = 0
  private fault: ((event: number) => Error) | undefined
  private isCut = false
  private isOver = false

  /** @throws RangeError if the DTD is not of version 1.0, the only one that describes binary traces */
  constructor(
    dtd: Dtd,
    private readonly options: BinaryDecodeOptions = {},
    private readonly codec: Codec = codecOf(dtd),
  ) {
    super()
    checkOptions(options, OPTIONS, 'binaryDecoder')
    this.format = options.format ?? Header.FORMAT
    this.plan = binaryPlan(dtd, codec.mapping.of)
    this.layouts = new Layouts(this.plan)
    this.tables = new Tables(options.buffer ?? DEFAULT_BUFFER)
    this.reader = this.newReader(options.byteOrder === 'little')
    this.timeUnit = timeUnitOf(dtd)
    this.header = { format: this.format, ...this.timeUnit }
  }

  private newReader(little: boolean): BinaryReader {
    const reader = new BinaryReader(little, this.tables)
    reader.section = this.layouts.of(0)
    return reader
  }

  /** @throws TraceError when the trace is malformed, too large, or ends before it is complete */
  next(): EventBatch | null {
    for (;;) {
      if (this.fault !== undefined) throw this.fault(this.delivered + 1)
      if (this.isOver || (this.input.left === 0 && !this.input.ended)) return null
      if (this.file === undefined && !this.begin()) {
        if (this.fault !== undefined) continue
        return null
      }
      const batch = this.open()
      const stop = this.fill(batch)
      if (stop === INCOMPLETE && this.input.ended) this.finish()
      if (batch.count > 0 || (this.isOver && !this.hasGiven)) {
        this.delivered += batch.count
        this.columns = batch.columns
        this.batch = undefined
        this.hasGiven = true
        return batch
      }
      if (stop === INCOMPLETE && this.fault === undefined) return null
    }
  }

  endTruncated(): void {
    this.input.pos = this.input.end
    this.input.ended = true
    this.isCut = true
  }

  /** Reads the header, if there is one. Returns whether it is done. */
  private begin(): boolean {
    const { input, options } = this
    const { bytes, pos, end } = input
    if (
      input.left < Header.MAGIC.length &&
      !input.ended &&
      options.header !== false &&
      Header.hasMagic(bytes, pos, end)
    )
      return false
    const hasHeader = options.header ?? (input.left > 0 && Header.hasMagic(bytes, pos, end))
    if (!hasHeader || this.isCut) {
      this.file = null
      this.header = {
        format: this.format,
        ...this.timeUnit,
        layout: { header: false, byteOrder: this.reader.little ? 'little' : 'big' },
      }
      return true
    }
    try {
      const file = Header.parseFileHeader(bytes, pos, end, this.format)
      if (file === null) {
        if (input.ended) this.fail(truncated, 'the trace ends inside its header')
        return false
      }
      this.useHeader(file)
    } catch (error) {
      this.fault = () => error as Error
      return false
    }
    return true
  }

  private useHeader(file: Header.FileHeader): void {
    const { plan, tables } = this
    this.spans = Header.spansOf(file, new Set(plan.sections.keys()), this.format)
    this.file = file
    this.reader = this.newReader(file.byteOrder === 'little')
    this.reader.said = file.records
    this.input.pos += file.length
    const { addressSize, byteOrder, dtd } = file
    const contiguous = file.sections.length > 0
    this.header = {
      format: this.format,
      ...this.timeUnit,
      layout: { header: true, dtd, byteOrder, addressSize, contiguous },
    }
    for (const [i, span] of this.spans.entries()) {
      if (span.section === null || !plan.tables.has(span.section)) continue
      this.listed.add(span.section)
      if (this.options.read === undefined) continue
      const table = new TableSection(plan, this.reader.little, span, tables, this.options.read, (text, offset) => {
        this.warnings.push(`${describe({ format: this.format, offset })}: ${text}`)
      })
      tables.pullFrom(span.section, () => table.pull())
      this.spans[i] = { ...span, section: null }
    }
    this.enter(0)
  }

  /** Begins to read a span. */
  private enter(i: number): void {
    this.at = i
    const { section } = this.spans[i]
    if (section !== null) this.reader.section = this.layouts.of(section)
  }

  /** A batch with room for about as many events as there is input. */
  private open(): EventBatch {
    const { input, delivered, batch } = this
    if (batch !== undefined && batch.capacity > batch.count) return batch
    const mean = delivered > SMALLEST_CAPACITY ? input.offset / delivered : FIRST_MEAN
    const room = Math.min(BATCH_EVENTS, SMALLEST_CAPACITY + Math.ceil((input.left / mean) * 1.125))
    return (this.batch = new EventBatch(room, this.columns, this.header))
  }

  /** Reads into a batch until the input is used up, the batch is full, or there is a fault. */
  private fill(batch: EventBatch): number {
    const { input } = this
    try {
      let stop: number = GO_ON
      while (stop === GO_ON) {
        const { end, section } = this.spans[this.at]
        const left = end - input.offset
        if (left <= 0) this.leave()
        else if (input.left === 0) return INCOMPLETE
        else if (section === null) input.pos = Math.min(input.end, input.pos + left)
        else stop = this.fillFrom(batch, Math.min(input.end, input.pos + left), left <= input.left)
      }
      return stop
    } catch (error) {
      // Too many states, or a table that could not be read.
      if (error instanceof RangeError) return this.fail(limit, error.message)
      this.fault = () => error as Error
      return FAULT
    }
  }

  /** Enters the next span. */
  private leave(): void {
    const { section } = this.spans[this.at]
    if (section !== null && this.listed.has(section)) this.tables.close(section)
    this.enter(this.at + 1)
  }

  /**
   * Reads the records of a span.
   *
   * @param end the end of the available bytes
   * @param isWhole whether that is the end of the span
   */
  private fillFrom(batch: EventBatch, end: number, isWhole: boolean): number {
    const { input, reader } = this
    while (input.pos < end) {
      if (batch.count === batch.capacity) return FULL
      reader.use(input.bytes, input.pos, end)
      const stop = this.record(batch)
      input.pos = reader.pos
      if (stop === FAULT) return this.fault === undefined ? this.failAsReader() : FAULT
      if (stop === INCOMPLETE) {
        if (isWhole) return this.fail(malformed, 'a record goes beyond the end of its section')
        if (end - input.pos > Header.MAX_RECORD)
          return this.fail(limit, `a record has more than ${Header.MAX_RECORD} bytes`)
        return INCOMPLETE
      }
      if (batch.strings.byteLength > BATCH_STRING_BYTES) return FULL
    }
    return GO_ON
  }

  private failAsReader(): number {
    return this.fail(this.reader.isLimit ? limit : malformed, this.reader.reason)
  }

  /** Reads an element, a record that is not an event, or as many events as possible. */
  private record(batch: EventBatch): number {
    const { plan, reader } = this
    const after = reader.next(plan)
    if (after < 0) return after
    const { mapping, record } = reader.layout
    if (mapping !== undefined) return this.events(mapping.position, batch)
    if (record.role === 'section' && this.switchTo(doubleAt(reader.words, 1)) === FAULT) return FAULT
    reader.pos = after
    return GO_ON
  }

  /** Lets generated code read records into the batch. `position` is the position of the first one in the mapping. */
  private events(position: number, batch: EventBatch): number {
    const { reader, codec, records } = this
    const { said } = reader
    reader.batch = batch
    reader.limit = batch.capacity
    reader.left = said > 0 ? said - records : MANY
    codec.loop(reader.little ? 'readLittle' : 'readBig', position)(reader)
    if (said > 0) this.records = said - Math.max(0, reader.left)
    return reader.stop
  }

  /** Changes to another section. */
  private switchTo(id: number): number {
    const { plan, listed, reader } = this
    if (!plan.sections.has(id)) return this.fail(malformed, `there is no section ${id}`)
    if (id !== reader.section.section.id) {
      if (plan.raw.has(id))
        return this.fail(malformed, `section ${id} has no tags, and must have a part of the file of its own`)
      if (listed.has(id)) return this.fail(malformed, `section ${id} is elsewhere, as the header says`)
    }
    reader.section = this.layouts.of(id)
    return GO_ON
  }

  /** Checks at the end of the input whether the trace is complete. */
  private finish(): void {
    this.isOver = true
    if (this.isCut || this.fault !== undefined) return
    const { input, file } = this
    if (input.left > 0) return void this.fail(truncated, 'the trace ends inside a record')
    const said = file?.records ?? 0
    const { end } = this.spans[this.at]
    if (input.offset < end && end !== Infinity) this.fail(truncated, `the trace ends inside ${this.describe()}`)
    else if (this.spans.slice(this.at + 1).some((span) => span.end !== Infinity && span.end > span.start)) {
      this.fail(truncated, 'the trace ends before the sections that its header lists')
    } else if (said > this.records) {
      this.fail(truncated, `the trace has only ${this.records} of the ${said} records that its header says`)
    }
  }

  private describe(): string {
    const { start, end } = this.spans[this.at]
    const found = this.file?.sections.find((section) => section.start === start && section.start + section.size === end)
    return found === undefined ? 'the part before a section' : `section ${found.id}, which ends at byte ${end}`
  }

  /** Notes a fault of the current record, to be thrown after all events before it have been delivered. */
  private fail(make: typeof malformed, reason: string): typeof FAULT {
    const { offset } = this.input
    this.fault = (event) => make(reason, { format: this.format, offset, event })
    return FAULT
  }
}
