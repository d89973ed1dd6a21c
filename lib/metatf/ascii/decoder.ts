import { CR, LF } from '../../text/ascii.js'
import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch } from '../../event/batch.js'
import { limit, malformed, truncated, type TraceError, type TracePosition } from '../../event/error.js'
import type { TextDecodeOptions } from '../../event/format.js'
import type { TimeUnit, TraceHeader } from '../../event/header.js'
import type { Decoder } from '../../event/stage.js'
import { decodeText } from '../../event/strings.js'
import { LineDecoder } from '../../text/line-decoder.js'
import { codecOf, type Codec } from '../generate/loops.js'
import { headerOf, isHeadLine, MAX_HEAD, MAX_LINE } from './head.js'
import { AsciiReader, asciiRecords } from './reader.js'
import type { Dtd } from '../model.js'
import { timeUnitOf } from '../names.js'

const HASH = 0x23
const NOTHING = new Uint8Array(0)
const NO_EVENTS = new EventBatch(0, 0, { format: '' })

const MIN_CAPACITY = 16
const USUAL_BYTES_PER_EVENT = 20

export interface AsciiDecodeOptions extends TextDecodeOptions {
  /** The format's name in headers and messages. Default `metatf-ascii`. */
  name?: string
}

/**
 * Decodes a trace in ASCII by a DTD of Meta-TF 1.2.
 * @throws DtdError if the DTD is not of 1.2, or needs something that lines cannot represent
 */
export function asciiDecoder(dtd: Dtd, options?: AsciiDecodeOptions): Decoder {
  return new AsciiDecoder(dtd, options)
}

/** Decodes traces in ASCII. */
export class AsciiDecoder extends LineDecoder {
  private readonly timeUnit: TimeUnit | undefined
  private readonly reader: AsciiReader
  private columns = 0
  private header: TraceHeader | undefined
  /** The lines of the head read so far; null among records. */
  private head: Uint8Array | null = NOTHING

  constructor(
    dtd: Dtd,
    options: AsciiDecodeOptions = {},
    private readonly codec: Codec = codecOf(dtd),
  ) {
    super(options.name ?? 'metatf-ascii', MAX_LINE, options, { name: 'string' })
    this.timeUnit = timeUnitOf(dtd).timeUnit
    this.reader = new AsciiReader(asciiRecords(dtd, codec.mapping))
  }

  protected override read(): EventBatch {
    const { input, linesEnd } = this
    for (;;) {
      while (this.head !== null && this.failure === null && input.pos < linesEnd) this.readHead(this.head)
      if (this.head !== null || this.failure !== null) return NO_EVENTS
      const batch = this.readRecords(this.header as TraceHeader, linesEnd)
      this.columns |= batch.columns
      // Before another head, there may be nothing to return.
      if (this.head === null || this.isNewHeader(batch)) return batch
    }
  }

  protected override isNews(batch: EventBatch): boolean {
    return batch !== NO_EVENTS && this.isNewHeader(batch)
  }

  /** Delivers a head without records after it. */
  protected override rest(): EventBatch | null {
    if (this.head !== null) this.begin(this.head)
    const batch = new EventBatch(0, 0, this.emptyHeader())
    return this.isNews(batch) ? batch : null
  }

  protected override emptyHeader(): TraceHeader {
    return this.header as TraceHeader
  }

  /** Reads a line of the head, or the empty one after it. */
  private readHead(head: Uint8Array): void {
    const { input } = this
    const { bytes, pos } = input
    const end = bytes.indexOf(LF, pos) + 1
    const isHead = bytes[pos] === HASH
    const isEmpty = end === pos + 1 || (end === pos + 2 && bytes[pos] === CR)
    if (isHead && head.length + end - pos > MAX_HEAD) {
      this.failure = limit(`more than ${MAX_HEAD} bytes of lines before the records`, this.here())
    } else if (isHead && !isHeadLine(decodeText(bytes.subarray(pos, end)))) {
      const reason = 'expected a line "## Key: value"'
      const isCut = this.unterminated && end === input.end
      this.failure = isCut ? truncated(reason, this.place(end - 1)) : malformed(reason, this.here())
    } else if (isHead || isEmpty) {
      const longer = new Uint8Array(head.length + end - pos)
      longer.set(head)
      longer.set(bytes.subarray(pos, end), head.length)
      input.pos = end
      this.line++
      if (isHead) this.head = longer
      else this.begin(longer)
    } else {
      this.begin(head)
    }
  }

  /** Ends the head; records follow. */
  private begin(head: Uint8Array): void {
    this.header = headerOf(this.name, head, this.timeUnit)
    this.head = null
  }

  private newBatch(header: TraceHeader, linesEnd: number): EventBatch {
    const { input } = this
    const perEvent = this.events === 0 ? USUAL_BYTES_PER_EVENT : input.offset / this.events
    // Slightly more than the mean, so that the last lines of a chunk rarely need a separate batch.
    const capacity = Math.ceil(((linesEnd - input.pos) / perEvent) * 1.1)
    return new EventBatch(Math.min(BATCH_EVENTS, Math.max(MIN_CAPACITY, capacity)), this.columns, header)
  }

  /** Reads lines into a new batch until it is full, the lines are used up, one is at fault, or another head begins. */
  private readRecords(header: TraceHeader, linesEnd: number): EventBatch {
    const { input, reader, codec } = this
    const batch = this.newBatch(header, linesEnd)
    reader.batch = batch
    reader.bytes = input.bytes
    reader.pos = input.pos
    reader.end = linesEnd
    reader.line = this.line
    while (reader.pos < linesEnd && batch.count < batch.capacity && batch.strings.byteLength <= BATCH_STRING_BYTES) {
      reader.limit = batch.capacity
      reader.stop = 0
      reader.isHead = reader.isEmpty = false
      const after = reader.begin(reader.pos)
      if (after < 0) reader.stop = after
      else codec.loop('readBig', reader.section.positionOf(reader.tag))(reader)
      if (reader.stop < 0 && !this.passEmpty(reader)) break
    }
    input.pos = reader.pos
    this.line = reader.line
    if (this.head === null && reader.stop < 0 && reader.pos < linesEnd) this.failure = this.explain(reader)
    return batch
  }

  /** Skips an empty line. Returns false for anything else at which generated code stops. */
  private passEmpty(reader: AsciiReader): boolean {
    if (reader.isHead) this.head = NOTHING
    if (!reader.isEmpty) return false
    const { pos } = reader
    const at = reader.lineEnd(~reader.stop)
    reader.stop = at < 0 ? at : 0
    if (at < 0) return false
    if (at - pos >= MAX_LINE) {
      reader.stop = reader.tooLongLine()
      return false
    }
    reader.pos = at + 1
    reader.line++
    return true
  }

  /** The error for a line that is not a record. */
  private explain({ excess, expected, stop, batch }: AsciiReader): TraceError {
    const { bytes, pos, end } = this.input
    const { count } = batch
    if (excess !== '') return limit(excess, this.here(count))
    if (bytes.indexOf(LF, pos) - pos >= MAX_LINE) return this.tooLong(count)
    const at = ~stop
    const place = { ...this.place(at, count), column: at - pos + 1 }
    return this.unterminated && at === end - 1
      ? truncated(`the last line is incomplete: expected ${expected}`, place)
      : malformed(`expected ${expected}`, place)
  }

  /** A place in the current line, after `pending` events that have not been delivered yet. */
  private place(at: number, pending = 0): Required<TracePosition> {
    const here = this.here(pending)
    return { ...here, offset: here.offset + at - this.input.pos }
  }
}
