import { Writable } from 'node:stream'
import type { EventBatch } from '../event/batch.js'
import type { TraceEvent } from '../event/trace-event.js'
import { StatisticsCollector } from '../transforms/statistics/collector.js'
import type { Statistics } from '../transforms/statistics/result.js'
import { acceptFailures } from './failure.js'
import { EventIntake } from './intake.js'
import type { TakesEvents } from './types.js'

/** A sink that takes statistics. */
export interface StatsSink extends Writable, TakesEvents {
  /** The statistics, once all events have come. Rejected with the error of the pipeline. */
  readonly result: Promise<Statistics>
}

/**
 * A Writable that takes the statistics of the events written to it: totals, peaks, sizes, lifetimes, leaks by site ...
 * Put it at the end of a pipeline. Memory grows with the number of live blocks, and of distinct sites and sizes.
 *
 * @example
 * const sink = stats()
 * await pipeline(createReadStream('app.mtrc'), mtrc.decode(), sink)
 * const { peakBytes } = await sink.result
 */
export function stats(): StatsSink {
  return new StatsWritable()
}

class StatsWritable extends Writable implements StatsSink {
  readonly result: Promise<Statistics>
  private readonly collector = new StatisticsCollector()
  private readonly intake = new EventIntake('stats()', (batch) => this.collector.add(batch))
  private resolve: (statistics: Statistics) => void = () => {}
  private reject: (error: Error) => void = () => {}

  constructor() {
    super({ objectMode: true, highWaterMark: 1 })
    this.result = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    // Without anybody who waits for it, the error is that of the pipeline alone.
    this.result.catch(() => {})
    acceptFailures(this)
  }

  override _write(
    chunk: EventBatch | TraceEvent,
    _encoding: BufferEncoding,
    done: (error?: Error | null) => void,
  ): void {
    this.intake.take(chunk).then(() => done(), done)
  }

  override _final(done: (error?: Error | null) => void): void {
    this.intake.finish().then(() => {
      this.resolve(this.collector.finish())
      done()
    }, done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.reject(error ?? new Error('the sink was closed before all events had come'))
    done(error)
  }
}
