import { BATCH_EVENTS } from '../../event/batch.js'
import type { TextDecodeOptions } from '../../event/format.js'
import type { TraceHeader } from '../../event/header.js'
import { releaseKernel } from '../../kernel/load.js'
import { LogDecoder } from '../../text/log-decoder.js'
import { valgrindKernel, type ValgrindKernel } from './kernel.js'
import { HEADER, MAX_CALLS, MAX_LINE, NAME } from './layout.js'

/** Decodes what valgrind prints with --trace-malloc=yes. */
export class ValgrindDecoder extends LogDecoder {
  private own: ValgrindKernel | undefined
  /** An object of this decoder, because another header object begins another trace. */
  private readonly header = { ...HEADER }
  private hasCalls = false

  constructor(options?: TextDecodeOptions) {
    super(NAME, MAX_LINE, "calls of an allocator or valgrind's own messages", options)
  }

  dispose(): void {
    if (this.own !== undefined) releaseKernel(this.own.run)
  }

  protected override emptyHeader(): TraceHeader {
    return this.header
  }

  protected override get kernel(): ValgrindKernel {
    return (this.own ??= valgrindKernel())
  }

  /** valgrind's own messages. */
  protected override isExpected(): boolean {
    const { run, input: window } = this.kernel
    return run.isMessage(window.load(this.input)) !== 0
  }

  protected override decode(from: number, end: number): number {
    const count = this.kernel.run.decode(from, end, BATCH_EVENTS - MAX_CALLS)
    if (count > 0) this.hasCalls = true
    return count
  }

  protected override finish(): void {
    super.finish()
    if (!this.hasCalls && this.line > 1) this.warnings.push(`${NAME}: no calls: run valgrind with --trace-malloc=yes`)
  }
}
