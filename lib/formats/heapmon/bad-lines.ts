import { describe, type TracePosition } from '../../event/error.js'
import { NAME } from './layout.js'

/** How many of the lines that were left out are reported with their place. */
const REPORTED = 5

/** Counts the lines that fit no rule where they are to be left out, and reports the first few. */
export class BadLines {
  private count = 0

  /** @param warnings where the reports go */
  constructor(private readonly warnings: string[]) {}

  /** A line is left out. */
  add(reason: string, at: TracePosition): void {
    if (++this.count <= REPORTED) this.warnings.push(`${describe(at)}: left out: ${reason}`)
  }

  /** All lines were read: says how many were left out. */
  finish(): void {
    const { count } = this
    this.count = 0
    if (count > 0)
      this.warnings.push(`${NAME}: ${count === 1 ? '1 line that fits' : `${count} lines that fit`} no rule left out`)
  }
}
