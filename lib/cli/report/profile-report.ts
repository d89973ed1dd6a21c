import type { EventBatch } from '../../event/batch.js'
import { ProfileCollector } from '../../transforms/profile/collector.js'
import type { Profile, ProfileOptions } from '../../transforms/profile/profile.js'
import type { TraceInput } from '../input.js'
import { runTrace } from '../pipeline.js'
import { FinalReport } from './final-report.js'
import { statisticsWarnings } from './warnings.js'

/** The writer of a profile's file, and the part of the trace that it needs. */
interface ProfileReportOptions<Result> {
  collector: { add(batch: EventBatch): void; finish(complete: boolean): Result; readonly countsInfos?: boolean }
  profileOf: (result: Result) => Profile
  write: (result: Result) => Iterable<Uint8Array>
  /** A warning about data that the file does not represent. */
  lossOf?: (result: Result) => string | undefined
  /** Which trace of the stream to take, from 1; all of them if absent. */
  trace?: number | undefined
}

/** Takes the profile of all batches, and gives the pieces of a file. */
export class ProfileReport<Result = Profile> extends FinalReport {
  readonly countsInfos: boolean

  constructor(private readonly options: ProfileReportOptions<Result>) {
    super(options.trace)
    this.countsInfos = options.collector.countsInfos === true
  }

  protected add(batch: EventBatch): void {
    this.options.collector.add(batch)
  }

  protected report(isWhole: boolean): Iterable<Uint8Array> {
    const { collector, profileOf, write, lossOf } = this.options
    const result = collector.finish(isWhole)
    const { statistics } = profileOf(result)
    this.warnings.push(...statisticsWarnings(statistics))
    if (statistics.full.includes('sites'))
      this.warnings.push('there are more stacks than are distinguished: the later ones are [others]')
    const loss = lossOf?.(result)
    if (loss !== undefined) this.warnings.push(loss)
    return write(result)
  }
}

/** The profile of a file. @param command the command that reads it, for messages */
export function profileOf(command: string, input: TraceInput, options: ProfileOptions = {}): Promise<Profile> {
  return collected(command, input, new ProfileCollector(options), (profile) => profile)
}

/** What a collector makes of a file. @param profileOf the profile in that, of which warnings are given */
export async function collected<Result>(
  command: string,
  input: TraceInput,
  collector: { add(batch: EventBatch): void; finish(complete: boolean): Result },
  profileOf: (result: Result) => Profile,
): Promise<Result> {
  let result: Result | undefined
  const stage = new ProfileReport({
    collector,
    profileOf,
    write: (made) => {
      result = made
      return []
    },
  })
  await runTrace({ command, input, through: stage })
  return result as Result
}
