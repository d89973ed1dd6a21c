/** The maximum number of runs whose numbers are kept. */
const MAX_KEPT = 65_536

/**
 * The numbers that the events of a part have in the whole trace, as runs: events that come one after the other in both.
 * Of more runs than can be kept, each n-th is there. Plain data.
 */
export interface EventNumbers {
  /** The number in the part of the first event of each run, from 1. */
  readonly part: readonly number[]
  /** The number of that event in the whole trace. */
  readonly whole: readonly number[]
}

/** Notes which events of a trace are in a part of it. */
export class EventNumberList {
  private part: number[] = []
  private whole: number[] = []
  private step = 1
  private runs = 0
  private count = 0
  private next = 0

  /**
   * Takes the next events of the part.
   * @param before the number of events of the trace before the batch
   * @param rows those of the batch that are in the part, in order
   */
  add(before: number, rows: ArrayLike<number>): void {
    for (let i = 0; i < rows.length; i++) {
      const number = before + rows[i] + 1
      this.count++
      if (number !== this.next && this.runs++ % this.step === 0) {
        this.part.push(this.count)
        this.whole.push(number)
      }
      this.next = number + 1
    }
    while (this.part.length > MAX_KEPT) {
      this.part = this.part.filter((_, i) => i % 2 === 0)
      this.whole = this.whole.filter((_, i) => i % 2 === 0)
      this.step *= 2
    }
  }

  get result(): EventNumbers {
    return { part: this.part, whole: this.whole }
  }
}

/**
 * The number in the whole trace of an event of a part; at least so much where not all runs are kept.
 * @param event its number in the part, from 1
 */
export function numberOf({ part, whole }: EventNumbers, event: number): number {
  let [low, high] = [0, part.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (part[middle] > event) high = middle
    else low = middle + 1
  }
  return low === 0 ? event : whole[low - 1] + event - part[low - 1]
}
