import { CR, LF } from '../../bytes/ascii.js'
import { skipMark } from '../../bytes/byte-order-mark.js'
import { Input } from '../../bytes/input.js'
import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch } from '../../event/batch.js'
import { describe, limit, malformed, truncated, type TraceError } from '../../event/error.js'
import type { TimeUnit, TraceHeader } from '../../event/header.js'
import type { Decoder } from '../../event/stage.js'
import { decodeText } from '../../event/strings.js'
import { codecOf, type Codec } from '../generate/loops.js'
import { headerOf, isHeadLine, MAX_HEAD, MAX_LINE } from './head.js'
import { asciiRecords } from './records.js'
import { AsciiReader } from './reader.js'
import type { Dtd } from '../model.js'
import { timeUnitOf } from '../names.js'

const HASH = 0x23
const NEWLINE = Uint8Array.of(LF)
const NOTHING = new Uint8Array(0)

const MIN_CAPACITY = 16
const USUAL_BYTES_PER_EVENT = 20

/** What the decoder can be told. */
export interface AsciiDecodeOptions {
  /** The format's name in headers and messages. Default `metatf-ascii`. */
  name?: string
}

/**
 * Decodes a trace in ASCII by a DTD of Meta-TF 1.2.
 * @throws DtdError if the DTD is not of 1.2, or asks for what lines cannot say
 */
export function asciiDecoder(dtd: Dtd, options?: AsciiDecodeOptions): Decoder {
  return new AsciiDecoder(dtd, options)
}

/**
 * Decodes traces in ASCII. It only looks at lines whose line feed is there, so that no reader needs to look for the end
 * of the input: the line feed stops them all.
 */
export class AsciiDecoder implements Decoder {
  readonly warnings: string[] = []
  private readonly name: string
  private readonly timeUnit: TimeUnit | undefined
  private readonly reader: AsciiReader
  private readonly input = new Input()
  /** One past the last line feed in the input. */
  private lines = 0
  private events = 0
  private columns = 0
  private header: TraceHeader | undefined
  /** The lines of the head that is being read; null among records. */
  private head: Uint8Array | null = NOTHING
  /** The header of the batch that was given last. */
  private announced: TraceHeader | undefined
  private ended = false
  /** The last line had no line feed; one was put behind it. */
  private unterminated = false
  private failure: TraceError | null = null

  constructor(
    dtd: Dtd,
    { name = 'metatf-ascii' }: AsciiDecodeOptions = {},
    private readonly codec: Codec = codecOf(dtd),
  ) {
    this.name = name
    this.timeUnit = timeUnitOf(dtd).timeUnit
    this.reader = new AsciiReader(asciiRecords(dtd, codec.mapping))
  }

  feed(chunk: Uint8Array): void {
    const { input } = this
    // What was left has no line feed: all whole lines were read.
    const last = chunk.lastIndexOf(LF)
    input.feed(chunk)
    this.lines = last < 0 ? input.pos : input.end - chunk.length + last + 1
  }

  end(): void {
    this.ended = true
    if (this.input.left === 0) return
    this.unterminated = true
    this.feed(NEWLINE)
  }

  endTruncated(): void {
    // What is left of a line may have lost digits: it is not an event.
  }

  next(): EventBatch | null {
    if (this.failure !== null) throw this.failure
    const { input } = this
    skipMark(input)
    while (input.pos < this.lines) {
      if (this.head !== null) {
        this.readHead(this.head)
      } else {
        const batch = this.read(this.header as TraceHeader)
        if (batch.count > 0 || batch.header !== this.announced) return this.give(batch)
      }
      if (this.failure !== null) throw this.failure
    }
    if (input.left > MAX_LINE) throw this.tooLong(input.pos)
    if (this.ended && this.head !== null) this.begin(this.head)
    if (this.header !== undefined && this.header !== this.announced) return this.give(new EventBatch(0, 0, this.header))
    if (this.unterminated) {
      this.unterminated = false
      const at = {
        format: this.name,
        offset: input.offset - 1,
        line: this.reader.line - 1,
        ...(this.events > 0 && { event: this.events }),
      }
      this.warnings.push(`${describe(at)}: the last line does not end with a newline, so the trace may be cut`)
    }
    return null
  }

  private give(batch: EventBatch): EventBatch {
    this.announced = batch.header
    this.events += batch.count
    this.columns |= batch.columns
    return batch
  }

  /** Reads a line of the head, or the empty one behind it. */
  private readHead(head: Uint8Array): void {
    const { input } = this
    const { bytes, pos } = input
    const end = bytes.indexOf(LF, pos) + 1
    const isHead = bytes[pos] === HASH
    const isEmpty = end === pos + 1 || (end === pos + 2 && bytes[pos] === CR)
    if (isHead && head.length + end - pos > MAX_HEAD) {
      this.failure = limit(`more than ${MAX_HEAD} bytes of lines before the records`, this.place(pos))
    } else if (isHead && !isHeadLine(decodeText(bytes.subarray(pos, end)))) {
      const reason = 'expected a line "## Key: value"'
      const isCut = this.unterminated && end === input.end
      this.failure = isCut ? truncated(reason, this.place(end - 1)) : malformed(reason, this.place(pos))
    } else if (isHead || isEmpty) {
      const longer = new Uint8Array(head.length + end - pos)
      longer.set(head)
      longer.set(bytes.subarray(pos, end), head.length)
      input.pos = end
      this.reader.line++
      if (isHead) this.head = longer
      else this.begin(longer)
    } else {
      this.begin(head)
    }
  }

  /** The head is whole: records follow. */
  private begin(head: Uint8Array): void {
    this.header = headerOf(this.name, head, this.timeUnit)
    this.head = null
  }

  private newBatch(header: TraceHeader): EventBatch {
    const { input } = this
    const perEvent = this.events === 0 ? USUAL_BYTES_PER_EVENT : input.offset / this.events
    // A little more than the mean, lest the last lines of a chunk need a batch of their own.
    const capacity = Math.ceil(((this.lines - input.pos) / perEvent) * 1.1)
    return new EventBatch(Math.min(BATCH_EVENTS, Math.max(MIN_CAPACITY, capacity)), this.columns, header)
  }

  /** Reads lines into a new batch until it is full, the lines are used up, one is at fault, or another head begins. */
  private read(header: TraceHeader): EventBatch {
    const { input, lines, reader, codec } = this
    const batch = this.newBatch(header)
    reader.batch = batch
    reader.bytes = input.bytes
    reader.pos = input.pos
    reader.end = lines
    while (reader.pos < lines && batch.count < batch.capacity && batch.strings.byteLength <= BATCH_STRING_BYTES) {
      reader.limit = batch.capacity
      reader.stop = 0
      reader.isHead = reader.isEmpty = false
      const after = reader.begin(reader.pos)
      if (after < 0) reader.stop = after
      else codec.loop('readBig', reader.section.positionOf(reader.tag))(reader)
      if (reader.stop < 0 && !this.passEmpty(reader)) break
    }
    input.pos = reader.pos
    return batch
  }

  /** Passes over an empty line. Returns false for anything else at which generated code stops. */
  private passEmpty(reader: AsciiReader): boolean {
    const { pos, isHead, isEmpty } = reader
    if (isHead) {
      this.head = NOTHING
      return false
    }
    let at = reader.stop
    if (isEmpty) {
      at = reader.lineEnd(~at)
      if (at >= 0 && at - pos < MAX_LINE) {
        reader.pos = at + 1
        reader.line++
        return true
      }
      if (at >= 0) reader.tooLongLine()
    }
    const events = this.events + reader.batch.count
    this.failure =
      reader.excess === ''
        ? this.explain(pos, ~at, reader.expected, events)
        : limit(reader.excess, this.place(pos, events))
    return false
  }

  private explain(start: number, at: number, expected: string, events: number): TraceError {
    const { bytes } = this.input
    if (bytes.indexOf(LF, start) - start >= MAX_LINE) return this.tooLong(start, events)
    const place = { ...this.place(at, events), column: at - start + 1 }
    return this.unterminated && at === this.input.end - 1
      ? truncated(`the last line is incomplete: expected ${expected}`, place)
      : malformed(`expected ${expected}`, place)
  }

  private tooLong(start: number, events = this.events): TraceError {
    return limit(`a line of more than ${MAX_LINE} bytes`, this.place(start, events))
  }

  /** A place, at this position in the input's bytes. */
  private place(at: number, events = this.events) {
    const { offset, pos } = this.input
    return { format: this.name, offset: offset + at - pos, line: this.reader.line, column: 1, event: events + 1 }
  }
}
