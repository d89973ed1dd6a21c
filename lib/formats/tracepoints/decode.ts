import { BATCH_EVENTS, EventBatch } from '../../event/batch.js'
import type { TextDecodeOptions } from '../../event/format.js'
import type { TraceHeader } from '../../event/header.js'
import { LogDecoder } from '../../text/log-decoder.js'
import { NO_STYLE, TICKS, TIME_WITHIN, tracepointsKernel } from './kernel.js'
import { DEFAULT_PAGE_SIZE, HEADER, HEADER_OF_TICKS, MAX_LINE, NAME } from './layout.js'

const UNREAD = 'skipped events in a layout that is not read (run perf script without -F, or with comm and tid)'

/** Options of the decoder. */
export interface TracepointsDecodeOptions extends TextDecodeOptions {
  /** Bytes of a page, a power of two: addresses and sizes of pages are multiples of it. Default 4096. */
  pageSize?: number
}

/** Decodes what ftrace, perf script and trace-cmd report write of the kernel's kmem tracepoints. */
export class TracepointsDecoder extends LogDecoder {
  private readonly pageSize: bigint
  private style = NO_STYLE
  /** The number of lines that have an event in a layout that is not read, and the number of the first one. */
  private unread = 0
  private firstUnread = 0
  /** The least number of bytes with which reading events without a time is tried again. */
  private leastLength = 0

  /** @throws RangeError if the page size is invalid */
  constructor({ pageSize = DEFAULT_PAGE_SIZE, ...options }: TracepointsDecodeOptions = {}) {
    super(NAME, MAX_LINE, 'events of the slab or page allocator', options)
    if (!Number.isInteger(Math.log2(pageSize)) || pageSize < 1 || pageSize > 2 ** 30)
      throw new RangeError(`a page cannot have ${pageSize} bytes: give a power of two`)
    this.pageSize = BigInt(pageSize)
  }

  protected override emptyHeader(): TraceHeader {
    return this.style === TICKS ? HEADER_OF_TICKS : HEADER
  }

  private nothing(): EventBatch {
    return new EventBatch(0, 0, this.emptyHeader())
  }

  /** Lines of a report's header, and remarks. */
  protected override isExpected(): boolean {
    const { run, input: window } = tracepointsKernel()
    return run.isHeader(window.load(this.input)) !== 0
  }

  protected override hasEvent(): boolean {
    const { run, input: window } = tracepointsKernel()
    const from = window.load(this.input)
    return run.hasEvent(from, window.end) !== 0
  }

  protected override read(): EventBatch {
    const { input } = this
    const length = this.linesEnd - input.pos
    if (length < this.leastLength && !this.mustRead) return this.nothing()
    const { run, columns, input: window, strings } = tracepointsKernel()
    const from = window.load(input, this.linesEnd)
    const count = run.decode(from, window.end, BATCH_EVENTS, this.pageSize, this.style)
    // The header depends on how times are written, so a limited number of earlier events waits for the first time.
    const isLast = this.mustRead || window.end - run.first.value >= TIME_WITHIN || run.isRefused.value !== 0
    if (count > 0 && run.style.value === NO_STYLE && !isLast) {
      // Reading them again for every line would take quadratic time.
      this.leastLength = length + (length >> 3) + 1
      return this.nothing()
    }
    this.leastLength = 0
    this.skip(run.skipped.value, this.line + run.firstSkipped.value)
    if (run.unread.value > 0 && this.unread === 0) this.firstUnread = this.line + run.firstUnread.value
    this.unread += run.unread.value
    this.style = run.style.value
    if (run.isLong.value !== 0) {
      this.skipLong(window.end - from)
      return this.nothing()
    }
    input.skip(run.position.value - from)
    this.line += run.lines.value
    if (run.isRefused.value !== 0) this.failure = this.tooLong(count)
    return columns.take(count, run.fields.value, this.emptyHeader(), strings.take())
  }
  protected override finish(): void {
    super.finish()
    if (this.unread === 0) return
    const first = `the first is line ${this.firstUnread}`
    this.warnings.push(`${NAME}: ${UNREAD}: ${this.unread}; ${first}`)
  }
}
