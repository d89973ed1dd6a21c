import { ProfileCollector } from '../../transforms/profile/collector.js'
import type { Profile, ProfileOptions } from '../../transforms/profile/profile.js'
import { ProfileReport } from './profile-report.js'
import { traceInput } from '../input.js'
import { runTrace } from '../pipeline.js'

/** The profile of a file. @param command what reads it, for messages. @param path a file, or `-` for standard input */
export async function profileOf(command: string, path: string, options: ProfileOptions = {}): Promise<Profile> {
  let result: Profile | undefined
  const stage = new ProfileReport({
    collector: new ProfileCollector(options),
    profileOf: (profile) => profile,
    write: (profile) => {
      result = profile
      return []
    },
  })
  await runTrace({ command, input: traceInput(path), through: stage, output: () => {} })
  return result as Profile
}
