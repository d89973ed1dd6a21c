import { ascii } from '../../text/ascii.js'
import { BATCH_EVENTS, EventBatch } from '../../event/batch.js'
import { describe, truncated } from '../../event/error.js'
import type { TextDecodeOptions } from '../../event/format.js'
import type { TraceHeader } from '../../event/header.js'
import { LineDecoder } from '../../text/line-decoder.js'
import { LineEnds } from '../../text/line-ends.js'
import { CUT, MORE_LINES, mtraceKernel, NO_LINES, TOO_FAR, TOO_LONG } from './kernel.js'
import { HEADER, HEADER_WITHOUT_START, MAX_LINE, NAME, START } from './layout.js'

const FIRST_LINE = ascii(`${START}\n`)

/** The amount of input to request, so that both lines of a realloc are available unless they are too long. */
const LEAST = 4 * MAX_LINE

/**
 * Decodes the traces of glibc's mtrace. Lines that are not events, such as those that a forked child wrote into its
 * parent's file, are kept as comments.
 */
export class MtraceDecoder extends LineDecoder {
  private header: TraceHeader | undefined
  protected override readonly lineEnds = new LineEnds()
  private odd = 0
  private firstOdd = 0
  private isHalf = false

  constructor(options?: TextDecodeOptions) {
    super(NAME, MAX_LINE, options)
  }

  protected override emptyHeader(): TraceHeader {
    return this.header ?? HEADER_WITHOUT_START
  }

  protected override read(): EventBatch {
    const { input } = this
    const header = (this.header ??= this.readStart())
    const left = this.linesEnd - input.pos
    if (left === 0) return new EventBatch(0, 0, header)
    const { run, columns, input: window, strings } = mtraceKernel()
    const from = window.load(input, this.linesEnd, LEAST)
    const loaded = window.end - from
    const behind = loaded < left && loaded >= LEAST ? TOO_FAR : loaded === left && this.mustRead ? NO_LINES : MORE_LINES
    const isLast = loaded === left
    const count = run.decode(
      from,
      window.end,
      BATCH_EVENTS,
      behind,
      this.unterminated && isLast,
      this.takesLastLine || !this.ended,
    )
    if (run.odd.value > 0 && this.odd === 0) this.firstOdd = this.line + run.firstOdd.value
    this.odd += run.odd.value
    input.skip(run.position.value - from)
    this.line += run.lines.value
    if (run.fault.value === TOO_LONG) this.failure = this.tooLong(count)
    this.isHalf = run.isHalf.value !== 0
    if (run.fault.value === CUT) this.failure = truncated('the trace ends within an event', this.here(count))
    return columns.take(count, run.fields.value, header, strings.take())
  }

  protected override finish(): void {
    if (this.isHalf) {
      const place = describe({ format: NAME, line: this.line - 1, event: this.events })
      this.warnings.push(`${place}: the last line is the first of a realloc's two, so the trace may be cut`)
    }
    if (this.odd === 0) return
    this.warnings.push(
      `${NAME}: lines that are no events, kept as comments: ${this.odd}; the first is line ${this.firstOdd}`,
    )
  }

  /** Skips the line that a trace begins with. */
  private readStart(): TraceHeader {
    const { input } = this
    if (!FIRST_LINE.every((byte, i) => input.bytes[input.pos + i] === byte)) return { ...HEADER_WITHOUT_START }
    input.skip(FIRST_LINE.length)
    this.line++
    return { ...HEADER }
  }
}
