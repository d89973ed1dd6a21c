import { Writable } from 'node:stream'
import { decodeAny } from '../../streams/decode.js'
import { ProfileCollector } from '../../transforms/profile/collector.js'
import type { Profile, ProfileOptions } from '../../transforms/profile/profile.js'
import { bytesOf } from '../input.js'
import { runStreams } from '../pipeline.js'
import { ProfileReport } from './profile-report.js'

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
  await runStreams(
    command,
    [path],
    () => [...bytesOf(path), decodeAny({ path, recycle: true, through: stage })],
    () => new Writable({ write: (_chunk, _encoding, done) => done() }),
  )
  return result as Profile
}
