import { Input } from '../bytes/input.js'
import { EventBatch } from '../event/batch.js'
import { EventCollector } from '../event/collector.js'
import { describe, FormatFault, limit, malformed, TraceError, truncated, type TracePosition } from '../event/error.js'
import { givenHeader } from '../event/header-check.js'
import type { TraceHeader } from '../event/header.js'
import { showValue } from '../event/message-text.js'
import { decodeText } from '../event/strings.js'
import type { TraceEvent } from '../event/trace-event.js'
import { ascii, CR, LF } from '../text/ascii.js'
import { skipMark } from '../text/byte-order-mark.js'
import { NO_LINE_FEED } from '../text/last-line.js'

const NEWLINE = ascii('\n')

/** The maximum number of warnings of a decoder. A hostile trace could cause any number. */
const MAX_WARNINGS = 100
/** The maximum length in bytes of what `take` returns, and of what `line` returns by default. */
const MAX_TAKEN = 1 << 24
const MAX_LINE = 1 << 16

/** Part of a decoder that is a generator, with a result. It yields batches to deliver, and null to wait for input. */
export type ReadingPart<T> = Generator<EventBatch | null, T, void>

/**
 * Reads a format from beginning to end. Everything that it yields, or gives to `emit`, is delivered before the
 * `TraceError` that it throws. When it returns, the trace is over.
 */
export type Reading = ReadingPart<void>

/** The bytes of a trace, and the position in it: the input of a decoder that is a generator. */
export class Cursor {
  readonly input = new Input()
  readonly warnings: string[] = []
  /** The number of events that were delivered. */
  delivered = 0
  /** The input was truncated by an error elsewhere: it has ended, and that error is enough. */
  isCut = false
  private readonly collector: EventCollector
  /** Full batches of emitted events: more events may come from one record than a batch can have. */
  private readonly full: EventBatch[] = []
  /** The number of emitted events that were not delivered. */
  private pending = 0
  /** The offset of what `take` or `line` returned last, and the number of its line. */
  private start: number | undefined
  private lineNumber = 0
  /** There is no line feed before this offset in the stream. */
  private searched = 0
  /** The last line had no line feed; one was appended. */
  private isUnterminated = false

  /**
   * @param format the format's name, for headers and messages
   * @param takesLastLine `line` returns a last line without a line feed; by default the trace is truncated there
   */
  constructor(
    readonly format: string,
    private readonly takesLastLine = false,
  ) {
    // The position in the trace shows where an event is wrong.
    this.collector = new EventCollector('', { format })
  }

  /**
   * Begins a trace: delivers its header, for the events that are emitted from now on.
   * @throws TypeError or RangeError for a header that no trace can have
   */
  *begin(header: TraceHeader): Reading {
    yield* this.deliver()
    this.collector.header = givenHeader(header, 'cursor.begin()')
    yield new EventBatch(0, 0, this.collector.header)
  }

  /**
   * The next `length` bytes, which count as read. They stay the same until the next call.
   * @returns undefined if the input ends before the first of them
   * @throws TraceError if it ends within them, they are more than 16 MiB, or `length` is no whole number from 0
   */
  *take(length: number): ReadingPart<Uint8Array | undefined> {
    const { input } = this
    yield* this.deliverFull()
    this.start = input.offset
    // A length that was computed of the trace may be any number.
    if (!Number.isInteger(length) || length < 0) throw this.malformed(`a record cannot have ${showValue(length)} bytes`)
    if (length > MAX_TAKEN) throw this.limit(`a record of more than ${MAX_TAKEN} bytes`)
    while (input.left < length)
      if (!(yield* this.more(input.left > 0 ? 'the input ends within a record' : undefined))) return undefined
    const { bytes, pos } = input
    input.skip(length)
    return bytes.subarray(pos, pos + length)
  }

  /**
   * The next line as text, without its line feed, a carriage return before that, and a byte order mark.
   * @param max the maximum length in bytes
   * @returns undefined at the end of the input
   * @throws TraceError for a longer line, and for a last one without a line feed, which may have lost digits
   */
  *line(max: number = MAX_LINE): ReadingPart<string | undefined> {
    const { input } = this
    yield* this.deliverFull()
    this.lineNumber++
    for (;;) {
      skipMark(input)
      this.start = input.offset
      const { bytes, pos } = input
      const feed = bytes.indexOf(LF, pos + Math.max(0, this.searched - input.offset))
      if ((feed < 0 ? input.left : feed - pos) > max) throw this.limit(`a line of more than ${max} bytes`)
      if (feed >= 0) {
        input.skip(feed + 1 - pos)
        return decodeText(bytes.subarray(pos, feed > pos && bytes[feed - 1] === CR ? feed - 1 : feed))
      }
      this.searched = input.offset + input.left
      if (input.ended && input.left > 0 && this.takesLastLine) {
        this.isUnterminated = true
        input.feed(NEWLINE)
      } else if (!(yield* this.more(input.left > 0 ? NO_LINE_FEED : undefined))) return undefined
    }
  }

  /**
   * Adds an event after those so far.
   * @throws TraceError with the position of the last read, if the event has an unknown field or a value out of range
   */
  emit(event: TraceEvent): void {
    this.keepFull()
    try {
      this.collector.add(event)
    } catch (error) {
      throw this.malformed((error as Error).message)
    }
    this.pending++
  }

  /**
   * Waits for more input.
   * @param missing why a trace that ends here is truncated; by default it may end here
   * @returns false if the input has ended
   * @throws TraceError with `missing` if the input has ended
   */
  *more(missing?: string): ReadingPart<boolean> {
    if (this.isCut) return false
    if (this.input.ended) {
      if (missing !== undefined) throw truncated(missing, this.here())
      return false
    }
    yield null
    return !this.isCut
  }

  /** The error for bytes or a line, those read last, that are not as the format has them. The caller throws it. */
  malformed(reason: string): TraceError {
    return malformed(reason, this.last())
  }

  /** The same for what goes beyond a limit. */
  limit(reason: string): TraceError {
    return limit(reason, this.last())
  }

  /** The error for what a reader threw: with the place of what was read last, unless it has one. */
  failed(error: unknown): TraceError | FormatFault {
    return error instanceof TraceError ? error : new FormatFault('reader', error, this.last())
  }

  /** Reports what is odd, but can be read, at what was read last. At most a hundred reports are made. */
  warn(text: string, at: TracePosition = this.last()): void {
    const { warnings } = this
    if (warnings.length >= MAX_WARNINGS) return
    const isLast = warnings.length === MAX_WARNINGS - 1
    warnings.push(`${describe(at)}: ${text}${isLast ? '; later ones are not reported' : ''}`)
  }

  /** The place of the next byte and the next event. */
  here(): TracePosition {
    const { format, input, lineNumber } = this
    const event = this.delivered + this.pending + 1
    // An appended line feed is no part of the input.
    const offset = input.offset - (this.isUnterminated && input.left === 0 ? 1 : 0)
    return { format, offset, ...(lineNumber > 0 && { line: lineNumber }), event }
  }

  private last(): TracePosition {
    const here = this.here()
    return { ...here, offset: this.start ?? (here.offset as number) }
  }

  /** The first emitted events that were not delivered, as a batch; null if there are none. */
  takeEmitted(): EventBatch | null {
    const batch = this.full.shift() ?? this.collector.take()
    if (batch !== null) this.pending -= batch.count
    return batch
  }

  private keepFull(): void {
    if (!this.collector.isFull) return
    const batch = this.collector.take()
    if (batch !== null) this.full.push(batch)
  }

  private *deliverFull(): Reading {
    this.keepFull()
    if (this.full.length > 0) yield* this.deliver()
  }

  private *deliver(): Reading {
    for (let batch; (batch = this.takeEmitted()) !== null;) yield batch
  }
}
