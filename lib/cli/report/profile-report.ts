import type { EventBatch } from '../../event/batch.js'
import { UNIDENTIFIED } from '../../event/header.js'
import { weightNote } from '../../event/weights.js'
import type { Stage } from '../../event/stage.js'
import type { Profile } from '../../transforms/profile/profile.js'
import { leakWarning } from './leak-warning.js'
import { sizeWarning } from './size-warning.js'
import { TraceChoice } from './trace-choice.js'

/** What makes a file of a profile, or of a result that has one, and of what part of the trace. */
interface ProfileReportOptions<Result> {
  collector: { add(batch: EventBatch): void; finish(complete: boolean): Result; readonly countsInfos?: boolean }
  profileOf: (result: Result) => Profile
  write: (result: Result) => Iterable<Uint8Array>
  /** What the file does not represent, as a warning. */
  lossOf?: (result: Result) => string | undefined
  /** Which trace of the stream to take, from 1; all of them if absent. */
  trace?: number
}

/** Takes the profile of all batches, and gives the pieces of a file when they end, or are truncated. */
export class ProfileReport<Result = Profile> implements Stage<EventBatch, Uint8Array> {
  readonly warnings: string[] = []
  readonly consumes = true
  readonly countsInfos: boolean
  private readonly choice: TraceChoice
  private ending: 'end' | 'endTruncated' | undefined
  private pieces: Iterator<Uint8Array> | undefined

  constructor(private readonly options: ProfileReportOptions<Result>) {
    this.choice = new TraceChoice(options.trace)
    this.countsInfos = options.collector.countsInfos === true
  }

  feed(batch: EventBatch): void {
    if (this.choice.admits(batch.header)) this.options.collector.add(batch)
  }

  next(): Uint8Array | null {
    const { ending, choice } = this
    if (ending === undefined) return null
    if (this.pieces === undefined) {
      if (ending === 'end') choice.check()
      // Where nothing at all could be read there is no profile.
      else if (!choice.found) return null
      this.pieces = this.begin(ending === 'end')
    }
    const { done, value } = this.pieces.next()
    return done === true ? null : (value as Uint8Array)
  }

  end(): void {
    this.ending = 'end'
  }

  endTruncated(): void {
    this.ending = 'endTruncated'
  }

  private begin(isWhole: boolean): Iterator<Uint8Array> {
    const { collector, profileOf, write, lossOf } = this.options
    const result = collector.finish(isWhole)
    const { statistics } = profileOf(result)
    if (!statistics.identified) this.warnings.push(UNIDENTIFIED)
    const leaks = leakWarning(statistics)
    if (leaks !== undefined) this.warnings.push(leaks)
    if (statistics.weighted !== undefined) this.warnings.push(weightNote(statistics.weighted))
    const sizes = sizeWarning(statistics)
    if (sizes !== undefined) this.warnings.push(sizes)
    if (statistics.full.includes('sites'))
      this.warnings.push('there are more stacks than are distinguished: the later ones are [others]')
    const loss = lossOf?.(result)
    if (loss !== undefined) this.warnings.push(loss)
    return write(result)[Symbol.iterator]()
  }
}
