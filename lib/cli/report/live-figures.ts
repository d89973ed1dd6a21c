import type { EventBatch } from '../../event/batch.js'
import { encodeText } from '../../event/strings.js'
import { StatisticsCollector } from '../../transforms/statistics/collector.js'
import type { Amount } from '../../transforms/statistics/result.js'
import { bytes, counted, rounded } from './columns.js'
import { FinalReport } from './final-report.js'
import { jsonLine } from './json.js'
import { blocks } from './names.js'
import { totalsWarnings } from './warnings.js'

/** The interval between lines: a number of events, or of milliseconds. */
export type Interval = { readonly events: number } | { readonly milliseconds: number }

/** The main figures of a trace at some moment. */
export interface LiveFigures {
  /** Events so far. */
  events: number
  /** Seconds since the first of them was read. */
  seconds: number
  allocated: Amount
  freed: Amount
  live: Amount
  /** The maximum of live blocks and the maximum of live bytes, not at the same moment. */
  peak: Amount
  /** Of the last line: whether the input was read to its end. */
  complete?: boolean
}

/** Options of the figures: which, when, and in what form. */
interface LiveFiguresOptions {
  every: Interval
  /** A line of figures, with what ends it. */
  print: (figures: LiveFigures) => string
  /** Which trace of the stream to take, from 1; all of them if absent. */
  trace?: number | undefined
  /** The clock, in milliseconds. */
  now?: () => number
}

/**
 * Shows the main figures repeatedly while events come, and once more at the end. Figures by time are shown when events
 * come, not while a pipe is silent.
 */
export class LiveFiguresReport extends FinalReport {
  readonly countsInfos = true
  private readonly collector = new StatisticsCollector()
  private readonly now: () => number
  private readonly start: number
  private last: number
  private batch: EventBatch | undefined
  private position = 0

  constructor(private readonly options: LiveFiguresOptions) {
    super(options.trace)
    this.now = options.now ?? (() => performance.now())
    this.start = this.last = this.now()
  }

  override next(): Uint8Array | null {
    try {
      while (this.batch !== undefined) if (this.advance(this.batch)) return this.line()
    } catch (error) {
      this.batch = undefined
      this.fail(error)
    }
    return super.next()
  }

  protected add(batch: EventBatch): void {
    this.batch = batch
    this.position = 0
  }

  protected report(isWhole: boolean): Uint8Array[] {
    const line = this.line(isWhole)
    this.warnings.push(...totalsWarnings(this.collector.finish(isWhole, { sites: false, sizes: 0 })))
    return [line]
  }

  /** Takes events until figures are due, or there are no more. @returns whether they are due */
  private advance(batch: EventBatch): boolean {
    const { collector, position } = this
    const { every } = this.options
    const due = 'events' in every ? every.events - (collector.count % every.events) : Infinity
    const to = Math.min(batch.count, position + due)
    collector.add(batch, position, to)
    this.position = to
    if (to === batch.count) this.batch = undefined
    if ('events' in every) return to - position === due
    const now = this.now()
    if (now - this.last < every.milliseconds) return false
    this.last = now
    return true
  }

  private line(complete?: boolean): Uint8Array {
    const { allocated, freed, live, peak } = this.collector.now()
    return encodeText(
      this.options.print({
        events: this.collector.count,
        seconds: (this.now() - this.start) / 1000,
        allocated,
        freed,
        live,
        peak,
        ...(complete !== undefined && { complete }),
      }),
    )
  }
}

/** Figures as a line of JSON. */
export function figuresJson({ seconds, ...figures }: LiveFigures): string {
  return `${jsonLine({ ...figures, seconds: Number(seconds.toFixed(3)) })}\n`
}

/** Figures as a line of text. */
export function figuresText({ events, seconds, allocated, live, peak }: LiveFigures): string {
  const rate = seconds > 0 ? `, ${rounded(events / seconds)} events/s` : ''
  return (
    `${counted(events, 'event')}: live ${blocks(live.blocks)}, ${bytes(live.bytes)}; peak ${bytes(peak.bytes)}; ` +
    `allocated ${blocks(allocated.blocks)}, ${bytes(allocated.bytes)}${rate}`
  )
}
