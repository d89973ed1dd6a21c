import { BATCH_EVENTS, type EventBatch } from '../../event/batch.js'
import { truncated } from '../../event/error.js'
import type { TextDecodeOptions } from '../../event/format.js'
import type { TraceHeader } from '../../event/header.js'
import type { StringTable } from '../../event/strings.js'
import { LF } from '../../text/ascii.js'
import { ADVICE } from '../../text/last-line.js'
import { LogDecoder } from '../../text/log-decoder.js'
import { withFrames } from './frames.js'
import { FTRACE, MAX_HELD, NO_STYLE, PERF, TICKS, TIME_WITHIN, tracepointsKernel } from './kernel.js'
import { PAGE_SIZE } from './info.js'
import { DEFAULT_PAGE_SIZE, HEADER, HEADER_OF_TICKS, MAX_LINE, NAME } from './layout.js'

const UNREAD = 'skipped events in a layout that is not read (perf script: run it without -F, or with comm and tid)'
const NO_EMPTY_LINE = `the last stack does not end with an empty line; ${ADVICE}`
const HIDDEN = 'events whose address the kernel hid, which count as failed allocations and frees of null'

export interface TracepointsDecodeOptions extends TextDecodeOptions {
  /** Bytes of a page, a power of two: addresses and sizes of pages are multiples of it. Default 4096. */
  pageSize?: number
}

/** Decodes what ftrace, perf script and trace-cmd report write of the kernel's kmem tracepoints. */
export class TracepointsDecoder extends LogDecoder {
  private readonly pageSize: bigint
  private style = NO_STYLE
  private stacks = 0
  /** The number of lines that have an event in a layout that is not read, and the number of the first one. */
  private unread = 0
  private firstUnread = 0
  private hidden = 0
  /** The input was truncated. */
  private isOver = false
  protected override readonly least = MAX_HELD + MAX_LINE
  /** Objects of this decoder, because another header object begins another trace. */
  private readonly header = { ...HEADER }
  private readonly headerOfTicks = { ...HEADER_OF_TICKS }
  /** The least number of bytes with which reading an event with a stack, or events without a time, is tried again. */
  private leastLength = 0

  /** @throws RangeError if the page size is invalid */
  constructor(options: TracepointsDecodeOptions = {}) {
    super(NAME, MAX_LINE, 'events of the slab or page allocator', options, { pageSize: PAGE_SIZE })
    this.pageSize = BigInt(options.pageSize ?? DEFAULT_PAGE_SIZE)
  }

  protected override emptyHeader(): TraceHeader {
    return this.style === TICKS ? this.headerOfTicks : this.header
  }

  protected override get kernel(): ReturnType<typeof tracepointsKernel> {
    return tracepointsKernel()
  }

  /** Lines of a report's header, and remarks. */
  protected override isExpected(): boolean {
    const { run, input: window } = this.kernel
    return run.isHeader(window.load(this.input)) !== 0
  }

  protected override read(): EventBatch {
    if (this.linesEnd - this.input.pos < this.leastLength && !this.mustRead && !this.isOver) return this.nothing()
    const batch = super.read()
    // Of a line without a line feed, the base says so.
    if (this.kernel.run.isOpen.value !== 0 && !this.isCut && !this.isOver)
      this.failure = truncated(NO_EMPTY_LINE, this.here(batch.count))
    return batch
  }

  protected override decode(from: number, end: number): number | undefined {
    const { run } = this.kernel
    const { pageSize, style } = this
    const isLast = (this.mustRead || this.isOver) && this.hasLastLine(end - from)
    const isCut = this.isCut || this.isOver
    const mayGoOn = this.takesLastLine || !(this.ended || this.isOver) ? 0 : isCut ? PERF | FTRACE : PERF
    const stacks = this.isCut && this.isFrameCut() ? this.stacks | PERF : this.stacks
    const count = run.decode(from, end, BATCH_EVENTS, pageSize, style, stacks, isLast, mayGoOn)
    // The header depends on how times are written, so a limited number of earlier events waits for the first time.
    const isTimed = isLast || end - run.first.value >= TIME_WITHIN || run.isRefused.value !== 0
    if (run.isHeld.value !== 0 || (count > 0 && run.style.value === NO_STYLE && !isTimed)) {
      // Reading them again for every line would take quadratic time.
      const length = this.linesEnd - this.input.pos
      this.leastLength = length + (length >> 3) + 1
      return undefined
    }
    this.leastLength = 0
    if (run.unread.value > 0 && this.unread === 0) this.firstUnread = this.line + run.firstUnread.value
    this.unread += run.unread.value
    this.hidden += run.hidden.value
    this.style = run.style.value
    this.stacks = run.stacks.value
    return count
  }

  /** Whether the kernel has the last line, or the one after its last is too long, if it has a number of bytes. */
  private hasLastLine(size: number): boolean {
    const { bytes, pos } = this.input
    return size >= this.linesEnd - pos || bytes.lastIndexOf(LF, pos + size - 1) < pos + size - MAX_LINE
  }

  override endTruncated(): void {
    super.endTruncated()
    this.isOver = true
  }

  /** Whether the line without a line feed may be the first of a stack. */
  private isFrameCut(): boolean {
    const { bytes, pos, left } = this.input
    const line = Buffer.from(bytes.subarray(this.linesEnd, pos + left)).toString('latin1')
    return /^\t|^ *(=>?.*|[\da-f]*)$/.test(line)
  }

  protected override takeStrings(): StringTable {
    return withFrames(super.takeStrings())
  }

  protected override finish(): void {
    super.finish()
    if (this.hidden > 0) this.warnings.push(`${NAME}: ${HIDDEN}: ${this.hidden}`)
    if (this.unread === 0) return
    const first = `the first is line ${this.firstUnread}`
    this.warnings.push(`${NAME}: ${UNREAD}: ${this.unread}; ${first}`)
  }
}
