/** The maximum number of moments that are kept. */
export const MOST_MOMENTS = 512

/** The figures at a moment, since the beginning of the stream, except the live ones. */
export interface Moment {
  /** The number of the last event before it. */
  event: number
  /** The time of the last event that had one until then. */
  time: bigint | undefined
  allocatedBlocks: number
  allocatedBytes: bigint
  liveBytes: bigint
  /** Pages with a live byte. */
  pages: number
}

/**
 * The moments of a report: the ends of slices with the same number of events. When there are too many slices, they
 * become twice as long.
 */
export class Clock {
  moments: Moment[] = []
  /** The logarithm of the number of events of a slice. */
  shift = 0

  /** The number of events until the next moment, after this number of events. */
  until(events: number): number {
    const slice = 2 ** this.shift
    return slice - (events % slice)
  }

  /** Keeps a moment. @returns whether only every second moment is kept from now on */
  keep(moment: Moment): boolean {
    this.moments.push(moment)
    if (this.moments.length < MOST_MOMENTS) return false
    this.moments = this.moments.filter((_, i) => i % 2 === 1)
    this.shift++
    return true
  }
}
