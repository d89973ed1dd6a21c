import { BATCH_EVENTS, EventBatch } from '../../event/batch.js'
import type { TextDecodeOptions } from '../../event/format.js'
import type { TraceHeader } from '../../event/header.js'
import { releaseKernel } from '../../kernel/load.js'
import { LogDecoder } from '../../text/log-decoder.js'
import { valgrindKernel, type ValgrindKernel } from './kernel.js'
import { HEADER, MAX_CALLS, MAX_LINE, NAME } from './layout.js'

/** Messages of valgrind begin with two of these. */
const EQUALS = 0x3d
const ASTERISK = 0x2a

/** Decodes what valgrind prints with --trace-malloc=yes. */
export class ValgrindDecoder extends LogDecoder {
  private kernel: ValgrindKernel | undefined

  constructor(options?: TextDecodeOptions) {
    super(NAME, MAX_LINE, "calls of an allocator or valgrind's own messages", options)
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

  /** valgrind's own messages. */
  protected override isExpected(): boolean {
    const { bytes, pos } = this.input
    return bytes[pos] === bytes[pos + 1] && (bytes[pos] === EQUALS || bytes[pos] === ASTERISK)
  }

  protected override hasEvent(): boolean {
    const { run, input: window } = (this.kernel ??= valgrindKernel())
    const from = window.load(this.input)
    return run.hasEvent(from, window.end) !== 0
  }

  protected override read(): EventBatch {
    const { input } = this
    const { run, columns, input: window, strings } = (this.kernel ??= valgrindKernel())
    const from = window.load(input, this.linesEnd)
    const count = run.decode(from, window.end, BATCH_EVENTS - MAX_CALLS)
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
