import type { TextDecodeOptions } from '../event/format.js'
import { LineDecoder } from './line-decoder.js'

/**
 * The base of decoders for logs with other lines between the events. Such lines are skipped and counted, however long
 * they are. An event in a line over the limit is an error.
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
  ) {
    super(name, maxLine, options)
  }

  /** Whether there is an event in the line at the input's position, of which only a part may be there. */
  protected abstract hasEvent(): boolean

  /** Whether the line at the input's position is a usual line without events, which is not counted. */
  protected isExpected(): boolean {
    return false
  }

  /** Counts skipped lines. `first` is the number of the first one. */
  protected skip(lines: number, first: number): void {
    if (lines > 0 && this.skipped === 0) this.firstSkipped = first
    this.skipped += lines
  }

  /** @throws TraceError if the line has an event */
  protected override refuseLine(): void {
    if (this.hasEvent()) throw this.tooLong()
    if (!this.isExpected()) this.skip(1, this.line)
  }

  protected override finish(): void {
    if (this.skipped === 0) return
    const first = `the first is line ${this.firstSkipped}`
    this.warnings.push(`${this.name}: skipped lines that are no ${this.eventsAre}: ${this.skipped}; ${first}`)
  }
}
