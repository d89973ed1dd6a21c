import { checkOptions, type NoOptions } from '../event/options.js'
import { StatisticsCollector } from '../transforms/statistics/collector.js'
import type { Statistics } from '../transforms/statistics/result.js'
import { CollectingSink, type ResultSink } from './result-sink.js'

/** A sink that collects statistics. */
export type StatsSink = ResultSink<Statistics>

/**
 * A Writable that collects the statistics of the events written to it: totals, peaks, sizes, lifetimes, leaks by site
 * ... Put it at the end of a pipeline. Memory grows with the number of live blocks, and of distinct sites and sizes.
 *
 * @throws RangeError for options: there are none
 *
 * @example
 * const sink = stats()
 * await pipeline(createReadStream('app.mtrc'), mtrc.decode(), sink)
 * const { peakBytes } = await sink.result
 */
export function stats(options?: NoOptions): StatsSink {
  checkOptions(options, {}, 'stats')
  return new CollectingSink('stats()', new StatisticsCollector())
}
