import { ProfileCollector } from '../../transforms/profile/collector.js'
import type { EventBatch } from '../../event/batch.js'
import type { Profile, ProfileOptions } from '../../transforms/profile/profile.js'
import { ProfileReport } from './profile-report.js'
import type { TraceInput } from '../input.js'
import { runTrace } from '../pipeline.js'

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
