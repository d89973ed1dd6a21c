/** The maximum number of events whose numbers are kept. */
const MAX_KEPT = 65_536

/** The numbers that the events of a part have in the whole trace: of every event, or of each n-th. Plain data. */
export interface EventNumbers {
  /** The distance between the events whose numbers are kept, the first of them being the first of the part. */
  readonly step: number
  readonly kept: readonly number[]
  /** That of the last event. */
  readonly last: number
}

/** Notes which events of a trace are in a part of it. */
export class EventNumberList {
  private step = 1
  private kept: number[] = []
  private count = 0
  private last = 0

  /**
   * Takes the next events of the part.
   * @param before the number of events of the trace before the batch
   * @param rows those of the batch that are in the part, in order
   */
  add(before: number, rows: ArrayLike<number>): void {
    const n = rows.length
    if (n === 0) return
    for (let i = (this.step - (this.count % this.step)) % this.step; i < n; i += this.step)
      this.kept.push(before + rows[i] + 1)
    this.count += n
    this.last = before + rows[n - 1] + 1
    while (this.kept.length > MAX_KEPT) {
      this.kept = this.kept.filter((_, i) => i % 2 === 0)
      this.step *= 2
    }
  }

  get result(): EventNumbers {
    return { step: this.step, kept: this.kept, last: this.last }
  }
}

/**
 * The first and the last number, in the whole trace, of some events of a part: at least these, and at most `step` - 1
 * more on each side.
 * @param from the number of the first of them in the part, from 1
 * @param to that of the last
 */
export function numbersOf({ step, kept, last }: EventNumbers, from: number, to: number): [number, number] {
  const first = kept[Math.min(kept.length - 1, Math.floor(Math.max(0, from - 1) / step))] ?? 1
  return [first, Math.max(first, kept[Math.ceil(Math.max(0, to - 1) / step)] ?? last)]
}
