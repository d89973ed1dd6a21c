import type { EventBatch } from '../../event/batch.js'
import { textBytes } from '../../event/strings.js'
import { StatisticsCollector } from '../../transforms/statistics/collector.js'
import type { Statistics } from '../../transforms/statistics/result.js'
import { FinalReport } from './final-report.js'
import { statisticsWarnings } from './warnings.js'

interface StatisticsReportOptions {
  /** Makes the text of the report, in pieces. */
  print: (statistics: Statistics) => Iterable<string>
  /** The number of the trace in the stream to take, from 1; all of them if absent. */
  trace?: number | undefined
}

/** Collects the statistics of all batches, and gives the report. Warns of leaks that may be false. */
export class StatisticsReport extends FinalReport {
  readonly countsInfos = true
  private readonly collector = new StatisticsCollector()

  constructor(private readonly options: StatisticsReportOptions) {
    super(options.trace)
  }

  protected add(batch: EventBatch): void {
    this.collector.add(batch)
  }

  protected report(isWhole: boolean): Iterable<Uint8Array> {
    const statistics = this.collector.finish(isWhole)
    this.warnings.push(...statisticsWarnings(statistics))
    return textBytes(this.options.print(statistics))
  }
}
