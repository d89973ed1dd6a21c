import { UNIDENTIFIED } from '../../event/header.js'
import type { EventBatch } from '../../event/batch.js'
import { weightNote } from '../../event/weights.js'
import type { Stage } from '../../event/stage.js'
import { textBytes } from '../../event/strings.js'
import { StatisticsCollector } from '../../transforms/statistics/collector.js'
import type { Statistics } from '../../transforms/statistics/result.js'
import { leakWarning } from './leak-warning.js'
import { sizeWarning } from './size-warning.js'
import { TraceChoice } from './trace-choice.js'

/** Options of a report. */
interface StatisticsReportOptions {
  /** Makes the text of the report, in pieces. */
  print: (statistics: Statistics) => Iterable<string>
  /** Which trace of the stream to take, from 1; all of them if absent. */
  trace?: number
}

/**
 * Collects the statistics of all batches, and gives the report when they end or are truncated. Warns of leaks that may
 * be false.
 */
export class StatisticsReport implements Stage<EventBatch, Uint8Array> {
  readonly warnings: string[] = []
  readonly consumes = true
  readonly countsInfos = true
  private readonly collector = new StatisticsCollector()
  private readonly choice: TraceChoice
  private ending: 'end' | 'endTruncated' | undefined
  private pieces: Iterator<Uint8Array> | undefined

  constructor(private readonly options: StatisticsReportOptions) {
    this.choice = new TraceChoice(options.trace)
  }

  feed(batch: EventBatch): void {
    if (this.choice.admits(batch.header)) this.collector.add(batch)
  }

  next(): Uint8Array | null {
    this.pieces ??= this.begun()
    return this.pieces?.next().value ?? null
  }

  /** The report, once the batches have ended. */
  private begun(): Iterator<Uint8Array> | undefined {
    const { ending, choice, options } = this
    if (ending === undefined) return undefined
    this.ending = undefined
    if (ending === 'end') choice.check()
    // If nothing could be read, there is nothing to report.
    if (ending === 'endTruncated' && !choice.found) return undefined
    // A trace that is followed by another one was read to its end.
    const isWhole = ending === 'end' || (options.trace !== undefined && choice.traces > options.trace)
    const statistics = this.collector.finish(isWhole)
    if (!statistics.identified) this.warnings.push(UNIDENTIFIED)
    const leaks = leakWarning(statistics)
    if (leaks !== undefined) this.warnings.push(leaks)
    if (statistics.weighted !== undefined) this.warnings.push(weightNote(statistics.weighted))
    const sizes = sizeWarning(statistics)
    if (sizes !== undefined) this.warnings.push(sizes)
    return textBytes(options.print(statistics))[Symbol.iterator]()
  }

  end(): void {
    this.ending = 'end'
  }

  endTruncated(): void {
    this.ending = 'endTruncated'
  }
}
