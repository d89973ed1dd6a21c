import { LineDecoder } from './line-decoder.js'
import { EventBatch } from '../event/batch.js'
import type { TextDecodeOptions } from '../event/format.js'
import type { TraceHeader } from '../event/header.js'
import type { StringTable } from '../event/strings.js'
import { KERNEL_INPUT } from '../kernel/layouts/input.js'
import type { Globals } from '../kernel/load.js'
import type { StringsExports, StringsKernel } from '../kernel/strings.js'

/** What the kernels of logs export, as kernel/ltrace.ts documents it. */
export interface LogExports
  extends
    StringsExports,
    Globals<'position' | 'lines' | 'fields' | 'skipped' | 'firstSkipped' | 'isLong' | 'isRefused'> {
  hasEvent(from: number, end: number): number
}

/**
 * The base of decoders for logs with other lines between the events, which a kernel reads. Such lines are skipped and
 * counted, however long they are. An event in a line over the limit is an error.
 */
export abstract class LogDecoder extends LineDecoder {
  private skipped = 0
  private firstSkipped = 0

  /** @param events what the events are called in messages: `calls of an allocator` */
  constructor(
    name: string,
    maxLine: number,
    private readonly eventsAre: string,
    options?: TextDecodeOptions,
    own?: object,
  ) {
    super(name, maxLine, options, own)
  }

  /** The number of bytes that the kernel has at least, if there are so many. */
  protected readonly least: number = KERNEL_INPUT / 4

  /** The kernel, for this call. */
  protected abstract get kernel(): StringsKernel<LogExports>

  protected abstract override emptyHeader(): TraceHeader

  /** Has the kernel read the lines in its memory. @returns the number of events, or undefined to wait for more lines */
  protected abstract decode(from: number, end: number): number | undefined

  /** Whether the line at the input's position is a usual line without events, which is not counted. */
  protected isExpected(): boolean {
    return false
  }

  /** Counts skipped lines. `first` is the number of the first one. */
  protected skip(lines: number, first: number): void {
    if (lines > 0 && this.skipped === 0) this.firstSkipped = first
    this.skipped += lines
  }

  protected override read(): EventBatch {
    const { input } = this
    const { run, columns, input: window } = this.kernel
    const from = window.load(input, this.linesEnd, this.least)
    const count = this.decode(from, window.end)
    if (count === undefined) return this.nothing()
    this.skip(run.skipped.value, this.line + run.firstSkipped.value)
    if (run.isLong.value !== 0) {
      this.skipLong(window.end - from)
      return this.nothing()
    }
    input.skip(run.position.value - from)
    this.line += run.lines.value
    if (run.isRefused.value !== 0) this.failure = this.tooLong(count)
    return columns.take(count, run.fields.value, this.emptyHeader(), this.takeStrings())
  }

  /** The strings of the events that were read. */
  protected takeStrings(): StringTable {
    return this.kernel.strings.take()
  }

  protected nothing(): EventBatch {
    return new EventBatch(0, 0, this.emptyHeader())
  }

  /** @throws TraceError if the line has an event, of which only a part may be there */
  protected override refuseLine(): void {
    const { run, input: window } = this.kernel
    const from = window.load(this.input)
    if (run.hasEvent(from, window.end) !== 0) throw this.tooLong()
    if (!this.isExpected()) this.skip(1, this.line)
  }

  protected override finish(): void {
    if (this.skipped === 0) return
    const first = `the first is line ${this.firstSkipped}`
    this.warnings.push(`${this.name}: skipped lines that are no ${this.eventsAre}: ${this.skipped}; ${first}`)
  }
}
