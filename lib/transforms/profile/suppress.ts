import { namedFrameText } from '../../names/named-frame.js'
import { SuppressionSet } from '../../names/suppression-set.js'
import type { SuppressibleFrame, Suppression } from '../../names/suppressions.js'
import type { Amount, Suppressed } from '../statistics/result.js'
import { suppressedBy } from '../statistics/suppress.js'
import type { Frame, Profile, Sample } from './profile.js'

/** A profile without leaks that rules suppress, and these. */
export interface SuppressedProfile {
  /** `statistics.suppressed` has what is not in `statistics.leaked`. */
  readonly profile: Profile
  readonly suppressed: Suppressed
  /** The nodes of these stacks. */
  readonly nodes: ReadonlySet<number>
  /** For each stack of them, its frames as text, the innermost first. */
  readonly stacks: readonly { readonly frames: readonly string[]; readonly leaked: Amount }[]
}

const NOTHING: Amount = { blocks: 0, bytes: 0n }

/**
 * Takes the leaks that rules suppress from a profile: from its samples, also as their live set at the end,
 * and from their sum. A leak counts for the first rule that it fits. All other figures stay.
 * @param roots the number of outermost frames that are not the program's: 1 if threads are the roots of stacks
 */
export function suppressLeaks(profile: Profile, rules: readonly Suppression[], roots: 0 | 1 = 0): SuppressedProfile {
  const { statistics, frames, tree, at } = profile
  const set = new SuppressionSet(rules)
  const views = viewsOf(frames)
  const nodes = new Set<number>()
  const stacks: { frames: string[]; leaked: Amount }[] = []
  const amounts = rules.map((): Amount => ({ ...NOTHING }))
  const sum: Amount = { ...NOTHING }
  for (const { node, leaked } of profile.samples()) {
    if (leaked.blocks === 0) continue
    const ids: number[] = []
    for (let next = node; next > 0; next = tree.parents[next]) ids.push(tree.frames[next])
    const own = ids.slice(0, ids.length - roots)
    const rule = amounts[set.find(own.map((id) => views[id]))]
    if (rule === undefined) continue
    nodes.add(node)
    stacks.push({ frames: own.map((id) => namedFrameText({ name: views[id]?.function as string })), leaked })
    for (const amount of [rule, sum]) {
      amount.blocks += leaked.blocks
      amount.bytes += leaked.bytes
    }
  }
  const { blocks, bytes } = statistics.leaked
  const suppressed = suppressedBy(rules, amounts, sum)
  const without = at === 'end' ? { leaked: NOTHING, live: NOTHING } : { leaked: NOTHING }
  return {
    profile: {
      ...profile,
      statistics: {
        ...statistics,
        leaked: { blocks: blocks - sum.blocks, bytes: bytes - sum.bytes },
        suppressed,
      },
      *samples(): Generator<Sample> {
        for (const sample of profile.samples()) yield nodes.has(sample.node) ? { ...sample, ...without } : sample
      },
    },
    suppressed,
    nodes,
    stacks,
  }
}

/** For each of some stacks, whether rules leave its leaks out. @param stacks of frames, the innermost first */
export function suppressedStacks(
  rules: readonly Suppression[],
  frames: readonly Frame[],
  stacks: readonly (readonly number[])[],
): boolean[] {
  const set = new SuppressionSet(rules)
  const views = viewsOf(frames)
  return stacks.map((stack) => set.find(stack.map((frame) => views[frame])) >= 0)
}

/** Frames as rules look at them. */
function viewsOf(frames: readonly Frame[]): SuppressibleFrame[] {
  return frames.map(({ name, file, module }) => ({
    function: name,
    ...(file !== undefined && { file }),
    ...(module !== undefined && { module }),
  }))
}
