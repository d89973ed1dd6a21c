import { ascii, LF } from './ascii.js'
import { skipMark } from './byte-order-mark.js'
import { NO_LINE_FEED } from './last-line.js'
import type { LineEnds } from './line-ends.js'
import { Input } from '../bytes/input.js'
import { EventBatch } from '../event/batch.js'
import { limit, truncated, type TraceError, type TracePosition } from '../event/error.js'
import { TEXT_OPTIONS, type TextDecodeOptions } from '../event/format.js'
import type { TraceHeader } from '../event/header.js'
import { checkOptions } from '../event/options.js'
import type { Decoder } from '../event/stage.js'

const NEWLINE = ascii('\n')

/**
 * The base of text decoders. They process only whole lines, so no reader needs to check for the end of the input. A
 * last line without a line feed is truncated, or gets one with the option `lastLine`.
 */
export abstract class LineDecoder implements Decoder {
  readonly warnings: string[] = []
  protected readonly input = new Input()
  /** The number of the next line to read. */
  protected line = 1
  /** The number of events that were delivered. */
  protected events = 0
  /** No more input comes. */
  protected ended = false
  /** The available whole lines must be read without waiting for more. */
  protected mustRead = false
  /** The last line had no line feed; one was appended. */
  protected unterminated = false
  /** The last line has no line feed, and is not read. */
  protected isCut = false
  /** Thrown when the events before it have been delivered. */
  protected failure: TraceError | null = null
  protected readonly takesLastLine: boolean
  /** For a reader of lines that end in LF alone. */
  protected readonly lineEnds: LineEnds | undefined
  /** The offset in the stream after the last line feed. */
  private lines = 0
  /** The header of the last batch delivered. */
  private delivered: TraceHeader | undefined
  /** Within a line that is over the limit, and skipped. */
  private isLong = false
  /** The offset of that line. */
  private longStart = 0
  private finished = false

  /**
   * @param name the format's, for messages
   * @param maxLine longer lines are refused
   * @param options of the decoder
   * @param own what options other than those of every decoder of text may be, as `OptionNames`
   */
  constructor(
    protected readonly name: string,
    protected readonly maxLine: number,
    options: TextDecodeOptions = {},
    own: object = {},
  ) {
    checkOptions<object>(options, { ...TEXT_OPTIONS, ...own }, `the decoder of ${name}`)
    this.takesLastLine = options.lastLine ?? false
  }

  /**
   * Reads lines up to `linesEnd` until a batch is full, some were read, or one is at fault (`failure`); skips what it
   * read and counts the lines. If it reads nothing, it waits for more lines; with `mustRead` it must read something.
   */
  protected abstract read(): EventBatch

  /** The header of an empty trace; undefined if the decoder gives nothing for one. */
  protected abstract emptyHeader(): TraceHeader | undefined

  /** Whether a batch is to be delivered. By default, if it has events; an empty trace gives one batch, at its end. */
  protected isNews(batch: EventBatch): boolean {
    return batch.count > 0
  }

  /** Whether a batch has events, or another header than the one before it. */
  protected isNewHeader({ count, header }: EventBatch): boolean {
    return count > 0 || header !== this.delivered
  }

  /** Batches held back until the end; called until it returns null. */
  protected rest(): EventBatch | null {
    return null
  }

  /** Called once at the end, for warnings about the whole trace. */
  protected finish(): void {}

  /** Decides about a line over the limit, of which only a part may be there: throws, or lets it be skipped. */
  protected refuseLine(): void {
    throw this.tooLong()
  }

  /** Skips the first `bytes` bytes of a line over the limit, and then the rest, unless `refuseLine` throws. */
  protected skipLong(bytes: number): void {
    if (!this.isLong) {
      this.refuseLine()
      this.longStart = this.input.offset + this.taken
    }
    this.isLong = true
    this.input.skip(bytes)
  }

  /** Skips the line at the input's position. */
  protected passLine(): void {
    const { input } = this
    input.skip(input.bytes.indexOf(LF, input.pos) + 1 - input.pos)
    this.line++
  }

  feed(chunk: Uint8Array): void {
    const { input } = this
    const text = this.lineEnds?.plain(chunk) ?? chunk
    input.feed(text)
    const feed = text.lastIndexOf(LF)
    if (feed >= 0) this.lines = input.offset + input.left - text.length + feed + 1
  }

  end(): void {
    this.ended = true
    if (!this.isWithinLine) return
    if (this.takesLastLine) {
      this.unterminated = true
      this.feed(NEWLINE)
    } else this.isCut = true
  }

  endTruncated(): void {
    // An incomplete line may have lost digits: it is not an event.
  }

  detach(): void {
    this.input.detach()
  }

  next(): EventBatch | null {
    if (this.failure !== null) throw this.failure
    const { input } = this
    skipMark(input)
    const isOverlong = input.offset + input.left - Math.max(this.lines, input.offset) > this.maxLine
    this.mustRead = this.ended || isOverlong
    for (let offset = -1; input.offset < this.lines && input.offset !== offset;) {
      ;({ offset } = input)
      if (this.isLong) {
        this.isLong = false
        this.passLine()
        continue
      }
      const batch = this.read()
      if (this.isNews(batch)) return this.give(batch)
      if (this.failure !== null) throw this.failure
    }
    if (isOverlong) this.skipLong(input.left)
    if (!this.ended) return null
    const rest = this.finished ? null : this.rest()
    if (rest !== null) return this.give(rest)
    if (!this.finished) {
      this.finished = true
      this.finish()
    }
    if (this.isCut) throw truncated(NO_LINE_FEED, { ...this.here(), offset: this.lineStart })
    const header = this.delivered === undefined ? this.emptyHeader() : undefined
    return header === undefined ? null : this.give(new EventBatch(0, 0, header))
  }

  /** Whether the input ends within a line. */
  protected get isWithinLine(): boolean {
    return this.isLong || (this.input.left > 0 && this.lines !== this.input.offset + this.input.left)
  }

  /** The offset of the current line in the stream. */
  protected get lineStart(): number {
    return this.isLong ? this.longStart : this.input.offset + this.taken
  }

  /** The number of bytes before the current line that `lineEnds` took away. */
  private get taken(): number {
    return this.lineEnds?.isPair === true ? this.line - 1 : 0
  }

  /** One past the last line feed, as an index like `input.pos`. */
  protected get linesEnd(): number {
    return this.input.pos + this.lines - this.input.offset
  }

  /** The place of the current line, after `pending` events that have not been delivered yet. */
  protected here(pending = 0): Required<TracePosition> {
    // An appended line feed is no part of the input.
    const appended = this.unterminated && this.input.left === 0 ? 1 : 0
    return {
      format: this.name,
      offset: this.input.offset + this.taken - appended,
      line: this.line,
      column: 1,
      event: this.events + pending + 1,
    }
  }

  protected tooLong(pending = 0): TraceError {
    return limit(`a line of more than ${this.maxLine} bytes`, this.here(pending))
  }

  private give(batch: EventBatch): EventBatch {
    this.delivered = batch.header
    this.events += batch.count
    return batch
  }
}
