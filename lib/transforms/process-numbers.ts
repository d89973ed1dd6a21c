import { WORD, wide } from '../bytes/u64.js'

/**
 * The numbers that traces give their events without a process, to find those that another process has. Stages of
 * traces that are merged share one.
 */
export class ProcessNumbers {
  /** The numbers as JavaScript's, which are not exact above 2^53. */
  private readonly near: ReadonlySet<number>
  private readonly given: ReadonlySet<bigint>
  /** Those that events have got. */
  private readonly taken = new Set<bigint>()
  /** Those that events had. */
  private readonly found = new Set<bigint>()

  /** @param given the numbers of all traces */
  constructor(given: Iterable<bigint>) {
    this.given = new Set(Array.from(given, (number) => BigInt.asUintN(64, number)))
    this.near = new Set(Array.from(this.given, Number))
  }

  /** Notes that events without a process get a number. @returns whether no other process has it, as far as is known */
  take(number: bigint): boolean {
    this.taken.add(number)
    return !this.found.has(number)
  }

  /** Notes the process of an event. @returns whether no events without a process have got it */
  find(lo: number, hi: number): boolean {
    if (!this.near.has(hi * WORD + lo)) return true
    const number = wide(lo, hi)
    if (!this.given.has(number)) return true
    this.found.add(number)
    return !this.taken.has(number)
  }
}
