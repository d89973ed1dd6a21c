import type { ProfileFormatName } from '../exports/profile-formats.js'
import { PROFILE_WRITERS } from '../exports/index.js'
import type { ExportOptions } from '../exports/writer.js'
import { showValue } from '../event/message-text.js'
import { checkOptions, needResult, oneOf } from '../event/options.js'
import { ProfileCollector } from '../transforms/profile/collector.js'
import { PROFILE_VALUES } from '../transforms/option-values.js'
import type { Profile, ProfileOptions } from '../transforms/profile/profile.js'
import { CollectingSink, type ResultSink } from './result-sink.js'

/** A sink that takes a profile. */
export type ProfileSink = ResultSink<Profile>

/**
 * A Writable that collects the profile of the events written to it: the memory that was allocated, live at the peak and
 * at another moment, and temporary, by the stacks that allocated it. Put it at the end of a pipeline. Memory grows with
 * the number of live blocks, and of distinct stacks.
 *
 * @example
 * const sink = profile({ at: 'peak' })
 * await pipeline(createReadStream('app.mtrc'), mtrc.decode(), sink)
 * for (const { node, live } of (await sink.result).samples()) console.log(node, live.bytes)
 */
export function profile(options: ProfileOptions = {}): ProfileSink {
  return new CollectingSink('profile()', new ProfileCollector(options))
}

/**
 * A profile as a file for another tool, in pieces. The profile for pprof is not compressed; readers expect gzip in
 * files.
 *
 * @example
 * await pipeline(await exportProfile(await sink.result, 'pprof'), createGzip(), createWriteStream('app.pb.gz'))
 */
export async function exportProfile(
  profile: Profile,
  to: ProfileFormatName,
  options: ExportOptions = {},
): Promise<Iterable<Uint8Array>> {
  needResult(profile, 'profile', 'samples', 'exportProfile')
  checkOptions(options, { value: PROFILE_VALUES, name: 'string', lines: 'boolean' }, 'exportProfile')
  const names = Object.keys(PROFILE_WRITERS)
  if (!names.includes(to)) throw new RangeError(`exportProfile: to must be ${oneOf(names)}, not ${showValue(to)}`)
  return (await PROFILE_WRITERS[to]())(profile, options)
}
