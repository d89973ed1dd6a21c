import type { ResidentMoment, ResidentSet } from '../../../lib/transforms/statistics/result.js'

/** A moment that may have a time. */
export type Untimed = Omit<ResidentMoment, 'time'> & { time: bigint | undefined }

/** The resident set of all processes, written down as directly as can be: that of each by its name. */
export class ResidentOracle {
  private levels = new Map<string, bigint>()
  /** All of them together. */
  level = 0n
  private readonly moments: ResidentMoment[] = []
  private atPeak: ResidentMoment | undefined
  /** The events of a trace come after this one; its peak does, too. */
  private start = 0

  /** A trace begins. @param peak the number of the event of the peak so far, 0 for none */
  begin(peak: number): void {
    this.levels = new Map()
    this.level = 0n
    this.start = Math.max(this.start, peak)
  }

  /** A process ends. */
  end(process: string): void {
    this.set(process, 0n)
  }

  /** An event has the resident bytes of a process. @param peak the number of the event of the peak so far */
  take(process: string, { time, ...own }: Untimed, peak: number): void {
    this.set(process, own.bytes)
    const moment = { ...own, bytes: this.level, ...(time !== undefined && { time }) }
    this.moments.push(moment)
    if (peak > this.start && peak > (this.atPeak?.event ?? 0)) this.atPeak = moment
  }

  private set(process: string, bytes: bigint): void {
    this.level += bytes - (this.levels.get(process) ?? 0n)
    this.levels.set(process, bytes)
  }

  /** Nothing if no event had any. */
  result(peak: number): { residentSet?: ResidentSet } {
    const { moments, atPeak } = this
    const last = moments.at(-1)
    if (last === undefined) return {}
    const most = moments.reduce((one, other) => (other.bytes > one.bytes ? other : one))
    const hasPeak = atPeak !== undefined && peak > 0 && atPeak.event > peak
    return { residentSet: { events: moments.length, most, last, ...(hasPeak && { atPeak }) } }
  }
}
