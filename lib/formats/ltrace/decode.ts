import { BATCH_EVENTS } from '../../event/batch.js'
import type { TextDecodeOptions } from '../../event/format.js'
import type { TraceHeader } from '../../event/header.js'
import { releaseKernel } from '../../kernel/load.js'
import { LogDecoder } from '../../text/log-decoder.js'
import { ltraceKernel, type LtraceKernel } from './kernel.js'
import { HEADER, MAX_LINE, NAME } from './layout.js'

export interface LtraceDecodeOptions extends TextDecodeOptions {
  /** Include the calls that an allocator's function makes during a call. Default false. */
  inner?: boolean
}

export class LtraceDecoder extends LogDecoder {
  private own: LtraceKernel | undefined
  private readonly inner: boolean
  /** An object of this decoder, because another header object begins another trace. */
  private readonly header = { ...HEADER }

  constructor(options?: LtraceDecodeOptions) {
    super(NAME, MAX_LINE, "whole calls of an allocator's functions", options, { inner: 'boolean' })
    this.inner = options?.inner ?? false
  }

  dispose(): void {
    if (this.own !== undefined) releaseKernel(this.own.run)
  }

  protected override emptyHeader(): TraceHeader {
    return this.header
  }

  protected override get kernel(): LtraceKernel {
    return (this.own ??= ltraceKernel(this.inner))
  }

  protected override decode(from: number, end: number): number {
    return this.kernel.run.decode(from, end, BATCH_EVENTS)
  }

  protected override finish(): void {
    this.skip(this.kernel.run.abandonAll(), this.line - 1)
    super.finish()
  }
}
