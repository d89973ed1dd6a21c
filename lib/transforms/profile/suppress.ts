import type { Suppression } from '../../names/suppression.js'
import { NOTHING } from '../statistics/amounts.js'
import type { Amount, Site, Suppressed } from '../statistics/result.js'
import { SuppressedLeaks } from '../statistics/suppress.js'
import type { Profile, Sample } from './profile.js'

/** A profile without the leaks that rules suppress, and the suppressed leaks. */
export interface SuppressedProfile {
  /** `statistics.suppressed` has the leaks that are not in `statistics.leaked`. */
  readonly profile: Profile
  readonly suppressed: Suppressed
  /** The positions of their samples. */
  readonly samples: ReadonlySet<number>
  /** Their sites, with what they leak. */
  readonly sites: readonly { readonly site: Site; readonly leaked: Amount }[]
}

/**
 * Removes the leaks that rules suppress from a profile: from its samples, also from their live set at the end, and from
 * the sum. A leak counts for the first rule that matches it. All other figures stay.
 */
export function suppressLeaks(profile: Profile, rules: readonly Suppression[]): SuppressedProfile {
  const { statistics, at } = profile
  const leaks = new SuppressedLeaks(rules)
  const samples = new Set<number>()
  const sites: { site: Site; leaked: Amount }[] = []
  let position = -1
  for (const { site: siteOf, leaked } of profile.samples()) {
    position++
    if (leaked.blocks === 0) continue
    const site = siteOf()
    if (!leaks.take(site, leaked)) continue
    samples.add(position)
    sites.push({ site, leaked })
  }
  const { leaked, suppressed } = leaks.result(statistics.leaked)
  const without = at === 'end' ? { leaked: NOTHING, live: NOTHING } : { leaked: NOTHING }
  return {
    profile: {
      ...profile,
      statistics: { ...statistics, leaked, suppressed },
      *samples(): Generator<Sample> {
        let next = 0
        for (const sample of profile.samples()) yield samples.has(next++) ? { ...sample, ...without } : sample
      },
    },
    suppressed,
    samples,
    sites,
  }
}
