import { BATCH_EVENTS, EventBatch } from '../../event/batch.js'
import type { TextDecodeOptions } from '../../event/format.js'
import type { TraceHeader } from '../../event/header.js'
import { checkOptions, type OptionNames } from '../../event/options.js'
import { releaseKernel } from '../../kernel/load.js'
import { LogDecoder } from '../../text/log-decoder.js'
import { ltraceKernel, type LtraceKernel } from './kernel.js'
import { HEADER, MAX_LINE, NAME } from './layout.js'

/** Options of the decoder. */
export interface LtraceDecodeOptions extends TextDecodeOptions {
  /** Include the calls that an allocator's function makes during a call. Default false. */
  inner?: boolean
}

const OPTIONS: OptionNames<LtraceDecodeOptions> = { inner: 'boolean', lastLine: 'boolean' }

/** Decodes the logs of ltrace. */
export class LtraceDecoder extends LogDecoder {
  private kernel: LtraceKernel | undefined

  private readonly inner: boolean

  constructor(options?: LtraceDecodeOptions) {
    checkOptions(options, OPTIONS, 'LtraceDecoder')
    super(NAME, MAX_LINE, "whole calls of an allocator's functions", options)
    this.inner = options?.inner ?? false
  }

  dispose(): void {
    if (this.kernel !== undefined) releaseKernel(this.kernel.run)
  }

  protected override emptyHeader(): TraceHeader {
    return HEADER
  }

  private nothing(): EventBatch {
    return new EventBatch(0, 0, HEADER)
  }

  protected override hasEvent(): boolean {
    const { run, input: window } = (this.kernel ??= ltraceKernel(this.inner))
    const from = window.load(this.input)
    return run.hasEvent(from, window.end) !== 0
  }

  protected override read(): EventBatch {
    const { input } = this
    const { run, columns, input: window, strings } = (this.kernel ??= ltraceKernel(this.inner))
    const from = window.load(input, this.linesEnd)
    const count = run.decode(from, window.end, BATCH_EVENTS)
    if (run.isLong.value !== 0) {
      this.skipLong(window.end - from)
      return this.nothing()
    }
    this.skip(run.skipped.value, this.line + run.firstSkipped.value)
    input.skip(run.position.value - from)
    this.line += run.lines.value
    if (run.isRefused.value !== 0) this.failure = this.tooLong(count)
    return columns.take(count, run.fields.value, HEADER, strings.take())
  }
}
