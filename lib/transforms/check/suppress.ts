import { namedFrameText } from '../../names/named-frame.js'
import type { SuppressibleFrame, Suppression } from '../../names/suppressions.js'
import type { Profile, Sample } from '../profile/profile.js'
import type { Amount } from '../statistics/result.js'

/** A profile without leaks that rules suppress, and these. */
export interface SuppressedProfile {
  readonly profile: Profile
  readonly suppressed: Amount
  /** For each stack of them, its frames as text, the innermost first. */
  readonly stacks: readonly { readonly frames: readonly string[]; readonly leaked: Amount }[]
}

const NOTHING: Amount = { blocks: 0, bytes: 0n }

/** Takes the leaks that rules suppress from a profile: from its samples and from their sum. */
export function suppressLeaks(profile: Profile, rules: readonly Suppression[]): SuppressedProfile {
  const { statistics, frames, tree } = profile
  const matches = new Set<number>()
  const stacks: { frames: string[]; leaked: Amount }[] = []
  const suppressed: Amount = { ...NOTHING }
  for (const { node, leaked } of profile.samples()) {
    if (leaked.blocks === 0) continue
    const stack: SuppressibleFrame[] = []
    const texts: string[] = []
    for (let at = node; at > 0; at = tree.parents[at] as number) {
      const frame = frames[tree.frames[at] as number]
      if (frame === undefined) continue
      const { name, file, module } = frame
      stack.push({ function: name, ...(file !== undefined && { file }), ...(module !== undefined && { module }) })
      texts.push(namedFrameText({ name }))
    }
    if (!rules.some((rule) => rule.matches(stack))) continue
    matches.add(node)
    stacks.push({ frames: texts, leaked })
    suppressed.blocks += leaked.blocks
    suppressed.bytes += leaked.bytes
  }
  const { blocks, bytes } = statistics.leaked
  return {
    profile: {
      ...profile,
      statistics: {
        ...statistics,
        leaked: { blocks: blocks - suppressed.blocks, bytes: bytes - suppressed.bytes },
      },
      *samples(): Generator<Sample> {
        for (const sample of profile.samples()) yield matches.has(sample.node) ? { ...sample, leaked: NOTHING } : sample
      },
    },
    suppressed,
    stacks,
  }
}
