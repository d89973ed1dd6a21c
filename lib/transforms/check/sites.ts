import { namedFrameText } from '../../names/named-frame.js'
import type { OwnFrames } from '../../names/own-frames.js'
import { BUDGET_FIGURES, type BudgetFigure } from '../option-values.js'
import * as Difference from '../profile/difference.js'
import type { Frame, Profile, Sample } from '../profile/profile.js'
import { addAmount, largerPeak } from '../statistics/amounts.js'
import type { Amount } from '../statistics/result.js'
import type { BudgetGroup } from './budgets.js'
import { GroupNames } from './functions.js'

/** A site with the amount that counts for a budget. */
export interface ChangedSite {
  /** The frames as text, the innermost first; or the size of blocks, where no event has a site. */
  readonly stack: readonly string[]
  /** In the baseline, if there is one. */
  readonly old?: Amount
  readonly new: Amount
  /** The source file and the line of the innermost frame of the program itself, if they are certain. */
  readonly file?: string
  readonly line?: number
}

/** The figures to search. */
interface Question {
  readonly old: Profile | undefined
  readonly next: Profile
  readonly figure: BudgetFigure
  readonly group: Pick<BudgetGroup, 'at' | 'each'>
  readonly own: OwnFrames
  readonly top: number
}

/** Only these figures are known by size. */
const OF_SIZES: Partial<Record<BudgetFigure, keyof Difference.ComparedFigures>> = {
  peak: 'atPeak',
  blocks: 'atPeak',
  allocated: 'allocated',
  allocations: 'allocated',
  leaked: 'leaked',
  'leaked-blocks': 'leaked',
  temporary: 'temporary',
}

/**
 * The sites in which a figure changed most or, without another trace, is largest: for each function of a group under
 * its name, or for the whole trace under an empty name.
 */
export function changedSites({ old, next, figure, group, own, top }: Question): ReadonlyMap<string, ChangedSite[]> {
  const isOfFunctions = group.at !== undefined || group.each !== undefined
  const found = new Map<string, ChangedSite[]>()
  const key = OF_SIZES[figure]
  if (key === undefined && figure !== 'wasted') return found
  const amountOf = (sample: Sample): Amount => {
    if (key === undefined) return { blocks: sample.overhead?.hits ?? 0, bytes: sample.overhead?.wasted ?? 0n }
    return key === 'temporary' ? sample.temporary[next.temporaryBy] : sample[key]
  }
  // The amount that counts takes the place of what was allocated.
  const add: Difference.AddFigures =
    figure === 'peak' && isOfFunctions ? addOwnPeak : (to, sample) => addAmount(to.allocated, amountOf(sample))
  const names = new GroupNames(group, own)
  const partOf = isOfFunctions ? ({ site }: Sample) => names.nameOfSite(site()) : () => ''
  const before = old ?? next
  const difference = Difference.compareParts(before, next, partOf, 'names', add)
  const bySize = difference.by === 'size'
  if (bySize && key === undefined) return found
  const read = bySize ? (key as keyof Difference.ComparedFigures) : 'allocated'
  const unit = BUDGET_FIGURES[figure].unit === 'bytes' ? 'bytes' : 'blocks'
  const changeOf = (one: Difference.ComparedStack) =>
    Number(one.new[read][unit]) - (old === undefined ? 0 : Number(one.old[read][unit]))
  const places = placesOf(next, Difference.comparedNames(before, next))
  const changed = difference.stacks.filter((one) => changeOf(one) > 0).toSorted((a, b) => changeOf(b) - changeOf(a))
  for (const one of changed) {
    const stack = one.stack()
    const sites = found.get(one.part) ?? []
    if (sites.length === 0) found.set(one.part, sites)
    if (sites.length === top) continue
    const frames = stack.map((name) => namedFrameText({ name }))
    const place = places.get(stack[own.start(frames)] ?? '')
    sites.push({ stack, ...(old !== undefined && { old: one.old[read] }), new: one.new[read], ...place })
  }
  return found
}

/**
 * Own peaks of stacks with equal names are of different moments: the maximum for all of them is at least the largest,
 * and at least their live bytes at the peak of the whole trace.
 */
function addOwnPeak(to: Difference.ComparedFigures, { ownPeak, atPeak }: Sample): void {
  addAmount(to.atPeak, atPeak)
  to.allocated = { ...largerPeak(largerPeak(to.allocated, ownPeak), to.atPeak) }
}

/** The source file of each frame by its name, and the line, as far as all frames of the name agree. */
function placesOf(
  { frames }: Profile,
  nameOf: (frame: Frame) => string,
): Map<string, { file?: string; line?: number }> {
  const places = new Map<string, { file?: string; line?: number }>()
  for (const frame of frames) {
    const { file, line } = frame
    const name = nameOf(frame)
    const known = places.get(name)
    if (known === undefined)
      places.set(name, { ...(file !== undefined && { file }), ...(line !== undefined && { line }) })
    else if (known.file !== file) places.set(name, {})
    else if (known.line !== line) places.set(name, { ...(file !== undefined && { file }) })
  }
  return places
}
