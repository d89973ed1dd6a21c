import { HI, LO, wide } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import type { TimeUnit, TraceHeader } from '../../event/header.js'
import type { Statistics, TimeStatistics } from './result.js'

const HAS_TIME = FieldBit.time
const PER_SECOND: Readonly<Record<TimeUnit, number>> = { ns: 1e9, us: 1e6 }

/** The amounts in a span of time: events, allocations and their bytes. */
export interface Happened {
  readonly events: number
  readonly allocations: number
  readonly bytes: bigint
}

/** A trace with times that are used. */
interface Timed {
  /** The number of its first event that has one, in the stream. */
  readonly event: number
  /** Its earliest time, and the span of the traces before it. */
  readonly first: bigint
  readonly before: bigint
  readonly span: bigint
}

const NOTHING: Happened = { events: 0, allocations: 0, bytes: 0n }

/** The earliest and latest time of each trace. Times need not be ordered. */
export class Times {
  /** Whether the current trace counts, which requires the unit of the first one. */
  counts = true
  private unit: TimeUnit | undefined
  private traces = 0
  private seen = false
  /** The number of the first event of the trace that has a time. */
  private firstEvent = 0
  private readonly timedTraces: Timed[] = []
  private firstLo = 0
  private firstHi = 0
  private lastLo = 0
  private lastHi = 0
  private earliest: bigint | undefined
  private latest = 0n
  private span = 0n
  /** The amounts until the end of the last trace, and in the traces whose times are in the span. */
  private before = NOTHING
  private timed = NOTHING

  begin(header: TraceHeader): void {
    if (this.traces++ === 0) this.unit = header.timeUnit
    this.counts = header.timeUnit === this.unit
  }

  /** Looks at the times of events `from` to `to` of a batch. @param before the number of events before these */
  add(batch: EventBatch, from: number, to: number, before: number): void {
    if ((batch.columns & HAS_TIME) === 0 || !this.counts) return
    const { mask } = batch
    const { words } = batch.time
    for (let i = from; i < to; i++) {
      if ((mask[i] & HAS_TIME) === 0) continue
      const lo = words[2 * i + LO]
      const hi = words[2 * i + HI]
      if (!this.seen) {
        this.seen = true
        this.firstEvent = before + i - from + 1
        this.firstLo = this.lastLo = lo
        this.firstHi = this.lastHi = hi
      } else if (hi > this.lastHi || (hi === this.lastHi && lo > this.lastLo)) {
        this.lastLo = lo
        this.lastHi = hi
      } else if (hi < this.firstHi || (hi === this.firstHi && lo < this.firstLo)) {
        this.firstLo = lo
        this.firstHi = hi
      }
    }
  }

  /** Ends the trace. @param now the amounts since the stream began */
  endTrace(now: Happened): void {
    const { before, timed } = this
    this.before = now
    if (!this.seen) return
    this.timed = {
      events: timed.events + now.events - before.events,
      allocations: timed.allocations + now.allocations - before.allocations,
      bytes: timed.bytes + now.bytes - before.bytes,
    }
    const first = wide(this.firstLo, this.firstHi)
    const last = wide(this.lastLo, this.lastHi)
    if (this.earliest === undefined) {
      this.earliest = first
      this.latest = last
    }
    this.timedTraces.push({ event: this.firstEvent, first, before: this.span, span: last - first })
    this.span += last - first
    this.seen = false
  }

  /**
   * The time from the beginning until a moment, where traces come one after the other: at most `span`. All traces must
   * have ended.
   * @param event the number of the last event until then
   * @param time the time of the last event until then that has one, where it is used
   */
  elapsed(event: number, time: bigint): bigint {
    const { timedTraces } = this
    let [from, to] = [0, timedTraces.length]
    while (to - from > 1) {
      const middle = (from + to) >> 1
      if (timedTraces[middle].event <= event) from = middle
      else to = middle
    }
    const trace = timedTraces[from]
    if (trace === undefined) return 0n
    const since = time - trace.first
    return trace.before + (since < 0n ? 0n : since > trace.span ? trace.span : since)
  }

  /** Undefined if no event had a time. All traces must have ended. */
  result(): TimeStatistics | undefined {
    if (this.earliest === undefined) return undefined
    const { events, allocations, bytes } = this.timed
    const seconds = this.unit === undefined ? 0 : Number(this.span) / PER_SECOND[this.unit]
    return {
      ...(this.unit !== undefined && { unit: this.unit }),
      first: this.earliest,
      last: this.latest,
      span: this.span,
      ...(allocations < this.before.allocations && { partial: true as const }),
      ...(seconds > 0 && {
        rates: { events: events / seconds, allocations: allocations / seconds, bytes: Number(bytes) / seconds },
      }),
    }
  }
}

/** Whether the lifetimes of all blocks are known in time. Otherwise a mean would count blocks without one as zero. */
export function hasLifetimes({ time }: Pick<Statistics, 'time'>): boolean {
  return time !== undefined && time.partial !== true
}
