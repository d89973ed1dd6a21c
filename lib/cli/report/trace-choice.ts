import type { TraceHeader } from '../../event/header.js'

/** Chooses one trace of a stream, or all: another header begins another trace. */
export class TraceChoice {
  /** How many traces there were so far. */
  traces = 0
  private header: TraceHeader | undefined

  /** @param chosen the number of a trace, from 1; undefined for all */
  constructor(private readonly chosen?: number) {}

  /** Whether the events under this header, that of the next batch, are wanted. */
  admits(header: TraceHeader): boolean {
    if (header !== this.header) {
      this.header = header
      this.traces++
    }
    return this.chosen === undefined || this.traces === this.chosen
  }

  /** Whether the chosen trace, or any trace, was there. */
  get found(): boolean {
    return this.traces > 0 && (this.chosen === undefined || this.traces >= this.chosen)
  }

  /** @throws Error when the stream has ended without the trace that was chosen */
  check(): void {
    if (this.chosen !== undefined && this.traces < this.chosen) {
      throw new Error(`there is no trace ${this.chosen}: the input has ${this.traces}`)
    }
  }
}
