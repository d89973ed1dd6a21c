import { Writable } from 'node:stream'
import type { EventBatch } from '../event/batch.js'
import type { TraceEvent } from '../event/trace-event.js'
import { acceptFailures } from './failure.js'
import { EventIntake } from './intake.js'
import type { Done, TakesEvents } from './types.js'

/** A sink that makes one result from all events. */
export interface ResultSink<Result> extends Writable, TakesEvents {
  /** The result, once all events have arrived. Rejected with the error of the pipeline. */
  readonly result: Promise<Result>
}

/** A collector that makes a result from batches. */
interface Collector<Result> {
  add(batch: EventBatch): void
  finish(): Result
}

/** A Writable around a collector of batches. */
export class CollectingSink<Result> extends Writable implements ResultSink<Result> {
  readonly result: Promise<Result>
  private readonly intake: EventIntake
  private resolve: (result: Result) => void = () => {}
  private reject: (error: Error) => void = () => {}

  /** @param name the name of the sink in messages about a wrong chunk */
  constructor(
    name: string,
    private readonly collector: Collector<Result>,
  ) {
    super({ objectMode: true, highWaterMark: 1 })
    this.intake = new EventIntake(
      name,
      (batch) => this.collector.add(batch),
      (text) => this.emit('warning', text),
    )
    this.result = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    // If no caller waits for it, the error is reported by the pipeline alone.
    this.result.catch(() => {})
    acceptFailures(this)
  }

  override _write(chunk: EventBatch | TraceEvent, _encoding: BufferEncoding, done: Done): void {
    this.intake.take(chunk).then(() => done(), done)
  }

  override _final(done: Done): void {
    this.intake
      .finish()
      .then(() => this.resolve(this.collector.finish()))
      .then(() => done(), done)
  }

  override _destroy(error: Error | null, done: Done): void {
    this.reject(error ?? new Error('the sink was closed before all events had come'))
    done(error)
  }
}
