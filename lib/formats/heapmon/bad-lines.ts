import { describe, type TracePosition } from '../../event/error.js'
import { plural } from '../../event/message-text.js'
import { NAME } from './layout.js'

/** The number of skipped lines that are reported individually. */
const REPORTED = 5

/** Counts lines that match no rule, where they are to be skipped, and reports the first few. */
export class BadLines {
  private count = 0

  /** @param warnings receives the reports */
  constructor(private readonly warnings: string[]) {}

  /** Skips a line. */
  add(reason: string, at: TracePosition): void {
    if (++this.count <= REPORTED) this.warnings.push(`${describe(at)}: left out: ${reason}`)
  }

  /** Reports the total once all lines have been read. */
  finish(): void {
    const { count } = this
    this.count = 0
    if (count > 0) this.warnings.push(`${NAME}: ${plural(count, 'line that fits', 'lines that fit')} no rule left out`)
  }
}
