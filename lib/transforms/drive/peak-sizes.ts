/** Sizes are counted in steps of this many bytes, up to the largest one: rounding matters less for larger blocks. */
const STEP = 8
const LARGEST = 1024
const STEPS = LARGEST / STEP + 1

/** The blocks of a step of sizes. */
export interface SizeCount {
  /** The largest size of the step, a multiple of 8. */
  readonly size: number
  readonly blocks: number
}

/** Counts live blocks by size, now and when most bytes were live. */
export class PeakSizes {
  private readonly now = new Float64Array(STEPS)
  private readonly atPeak = new Float64Array(STEPS)
  /** The number of the peak that `atPeak` is about, for each step: it is brought up to date before `now` changes. */
  private readonly noted = new Float64Array(STEPS)
  private peaks = 0

  /** Counts a block that begins, or one that ends. @param change 1 or -1 */
  count(size: number, change: number): void {
    if (size > LARGEST) return
    const step = Math.ceil(size / STEP)
    if (this.noted[step] < this.peaks) {
      this.noted[step] = this.peaks
      this.atPeak[step] = this.now[step]
    }
    this.now[step] += change
  }

  /** Never were more bytes live than now. */
  notePeak(): void {
    this.peaks++
  }

  /** The sizes that had blocks at the last peak, the smallest first. */
  result(): SizeCount[] {
    return Array.from(this.now, (blocks, step) => ({
      size: STEP * step,
      blocks: this.noted[step] < this.peaks ? blocks : this.atPeak[step],
    })).filter(({ blocks }) => blocks > 0)
  }
}
