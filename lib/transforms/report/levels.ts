import { MOST_MOMENTS } from './clock.js'

/** The maximum number of figures of all sites: 4 MiB. */
const MOST_CELLS = 1_048_576
/** The minimum number of moments, regardless of the number of sites. */
const FEWEST = 16

/** Live bytes of all sites at a moment. */
export interface Level {
  /** The number of the last event before it. */
  readonly event: number
  /** Live bytes by row; later rows have none. */
  readonly bytes: Float32Array
}

/** Live bytes of each site over time, at fewer moments if there are many sites. */
export class Levels {
  all: Level[] = []
  /** The number of events from one moment to the next. */
  private period = 1
  private cells = 0

  /** Whether the moment after an event is kept. */
  wants(event: number): boolean {
    return event % this.period === 0
  }

  keep(level: Level): void {
    this.all.push(level)
    this.cells += level.bytes.length
    while (this.all.length >= MOST_MOMENTS || (this.cells > MOST_CELLS && this.all.length >= 2 * FEWEST)) {
      this.period *= 2
      this.all = this.all.filter(({ event }) => event % this.period === 0)
      this.cells = this.all.reduce((sum, { bytes }) => sum + bytes.length, 0)
    }
  }
}
