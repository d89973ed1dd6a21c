import type { EventBatch } from '../../event/batch.js'
import { EARLY_END_NOTE } from '../../event/early-end.js'
import { FORMATS } from '../../formats/index.js'
import { lostWarning } from '../../event/lost-events.js'
import { weightNote } from '../../event/weights.js'
import { OwnFrames } from '../../names/own-frames.js'
import type { Suppression } from '../../names/suppression.js'
import { BUDGET_FIGURES, TEMPORARY_BY, type BudgetFigure, type TemporaryDefinition } from '../option-values.js'
import { ProfileCollector } from '../profile/collector.js'
import type { Profile } from '../profile/profile.js'
import { minus, NOTHING, plus } from '../statistics/amounts.js'
import { StatisticsCollector } from '../statistics/collector.js'
import type { Amount, SiteStatistics, Statistics } from '../statistics/result.js'
import type { BudgetGroup } from './budgets.js'
import { GroupNames } from './functions.js'
import { RenamedSites } from './renamed-sites.js'
import { suppressLeaks, type SuppressedProfile } from '../profile/suppress.js'

/** The value of a figure, and the whole of which it is a part; or the reason why it is unknown. */
export type Measure = { readonly value: bigint; readonly whole?: bigint } | { readonly unknown: string }

/** The figures of the whole trace, or of functions. */
export type Measures = Readonly<Partial<Record<BudgetFigure, Measure>>>

/** The figures of one trace that budgets need. */
export interface Measured {
  /** The name of the trace in messages: its file. */
  readonly name: string
  readonly profile: Profile
  readonly whole: Measures
  /** The leaks that the figures exclude, if any may be suppressed. */
  readonly suppressed?: Amount
  /** For each group of budgets, the figures of its functions by name; nothing for a group of the whole trace. */
  readonly groups: readonly ReadonlyMap<string, Measures>[]
}

/**
 * Collects the figures that budgets need in one pass over the batches of a trace. It takes the memory of a profile, and
 * of statistics for each group with functions.
 */
export class CheckCollector {
  /** As in `Stage`. The names of groups need whole stacks. */
  readonly countsInfos: boolean
  private readonly profile: ProfileCollector
  private readonly parts: readonly (Part | undefined)[]

  /**
   * @param groups the budgets that the result is for
   * @param name the name of the trace in messages
   * @param own the frames that `each` skips
   * @param rules the leaks that do not count
   * @param temporaryBy the definition of temporary allocations
   */
  constructor(
    groups: readonly BudgetGroup[],
    private readonly name: string,
    own: OwnFrames = new OwnFrames(),
    private readonly rules: readonly Suppression[] = [],
    private readonly temporaryBy: TemporaryDefinition = TEMPORARY_BY,
  ) {
    this.profile = new ProfileCollector({ temporaryBy })
    this.parts = groups.map((group) => {
      if (group.at === undefined && group.each === undefined) return undefined
      const names = new GroupNames(group, own)
      return { names, renamed: new RenamedSites(names), statistics: new StatisticsCollector() }
    })
    this.countsInfos = this.parts.every((part) => part === undefined)
  }

  /** Takes the events of a batch. A batch with another header begins another trace: no block outlives its trace. */
  add(batch: EventBatch): void {
    this.profile.add(batch)
    for (const part of this.parts) part?.statistics.add(part.renamed.rename(batch))
  }

  /** The measurements. Ends the use of the collector. @param complete whether the input was read to its end */
  finish(complete = true): Measured {
    const all = this.profile.finish(complete)
    const { rules, temporaryBy } = this
    const { profile, suppressed, sites: leaking } = rules.length === 0 ? { profile: all } : suppressLeaks(all, rules)
    const { statistics } = profile
    return {
      name: this.name,
      profile,
      whole: known(wholeOf(statistics, temporaryBy), statistics),
      ...(suppressed !== undefined && { suppressed: { blocks: suppressed.blocks, bytes: suppressed.bytes } }),
      groups: this.parts.map((part) => {
        const { sites = [], full = [] } = part?.statistics.finish(complete, { sites: true, sizes: 0 }) ?? {}
        if (full.includes('sites')) throw new RangeError('there are more functions than are distinguished')
        const leaks = part === undefined || leaking === undefined ? undefined : leaksByName(leaking, part.names)
        return new Map(
          sites.flatMap((site) => {
            const name = site.function ?? ''
            if (name === '') return []
            const leaked = minus(site.leaked, leaks?.get(name) ?? NOTHING)
            return [[name, known(functionOf({ ...site, leaked }, temporaryBy), statistics)] as const]
          }),
        )
      }),
    }
  }
}

/** Collects the figures for a group of budgets with functions. */
interface Part {
  readonly names: GroupNames
  readonly renamed: RenamedSites
  readonly statistics: StatisticsCollector
}

/** The suppressed leaks, by the names that a group has for sites. */
function leaksByName(sites: SuppressedProfile['sites'], names: GroupNames): Map<string, Amount> {
  const sums = new Map<string, Amount>()
  for (const { site, leaked } of sites) {
    const name = names.nameOfSite(site)
    sums.set(name, plus(sums.get(name) ?? NOTHING, leaked))
  }
  return sums
}

function wholeOf(
  { peakBytes, peakBlocks, faults, reallocs, mismatches, ...statistics }: Statistics,
  by: TemporaryDefinition,
): Measures {
  const { doubleFrees, unknownFrees, overlaps, failedAllocations } = faults
  return {
    ...functionOf({ ...statistics, ownPeak: peakBytes }, by),
    blocks: measure(peakBlocks.blocks),
    'double-frees': measure(doubleFrees),
    'unknown-frees': measure(unknownFrees),
    overlaps: measure(overlaps.blocks),
    mismatches: measure(mismatches.reduce((sum, { count }) => sum + count, 0)),
    'failed-allocations': measure(failedAllocations + reallocs.failed),
  }
}

function functionOf(
  figures: Pick<SiteStatistics, 'ownPeak' | 'allocated' | 'leaked' | 'temporary' | 'overhead'>,
  by: TemporaryDefinition,
): Measures {
  const { ownPeak, allocated, leaked, temporary, overhead } = figures
  return {
    peak: measure(ownPeak.bytes),
    allocated: measure(allocated.bytes),
    allocations: measure(allocated.blocks),
    leaked: measure(leaked.bytes),
    'leaked-blocks': measure(leaked.blocks),
    temporary: { value: BigInt(temporary[by].blocks), whole: BigInt(allocated.blocks) },
    wasted:
      overhead === undefined
        ? { unknown: 'no allocation says how many bytes it took' }
        : { value: overhead.wasted, whole: overhead.allocated },
  }
}

function measure(value: number | bigint): Measure {
  return { value: BigInt(value) }
}

/** The figures that are known of a trace from which events were removed regardless of blocks. */
const OF_EVENTS: ReadonlySet<string> = new Set(['allocated', 'allocations', 'wasted', 'failed-allocations'])

/** The figures that are known only if the trace ends with its program. */
const OF_END: ReadonlySet<string> = new Set(['leaked', 'leaked-blocks'])

/** The figures that are known only if frees identify their blocks. */
const OF_FREED_BLOCKS: ReadonlySet<string> = new Set(['temporary', 'double-frees', 'unknown-frees', 'overlaps'])

/** The figures, except those that cannot be known of the trace. */
function known(
  measures: Measures,
  { events, kinds, lostEvents, weighted, filtered, endsEarly = false, identified, formats, apis }: Statistics,
): Measures {
  const hiding = (what: 'failures' | 'families') =>
    FORMATS.find(({ name, hides }) => formats.includes(name) && hides?.includes(what) === true)?.name
  const reasonFor = (figure: string): string | undefined => {
    if (events === 0) return 'the trace has no events'
    if (kinds.lost !== undefined) return lostWarning(kinds.lost, undefined, lostEvents)
    if (weighted !== undefined) return weightNote(weighted)
    if (filtered && !OF_EVENTS.has(figure)) return 'events were removed from the trace regardless of blocks'
    if (endsEarly && OF_END.has(figure)) return EARLY_END_NOTE
    if (!identified && OF_FREED_BLOCKS.has(figure)) return 'the trace does not say which block is freed'
    if (figure === 'failed-allocations') return hiddenBy(hiding('failures'), 'calls that failed')
    if (figure !== 'mismatches') return undefined
    return Object.keys(apis).length === 0
      ? 'no event names the function that was called'
      : hiddenBy(hiding('families'), 'whether the program called malloc or new, free or delete')
  }
  return Object.fromEntries(
    (Object.keys(measures) as BudgetFigure[]).map((figure) => {
      const unknown = reasonFor(figure)
      return [figure, unknown === undefined ? (measures[figure] as Measure) : { unknown }]
    }),
  )
}

function hiddenBy(format: string | undefined, what: string): string | undefined {
  return format === undefined ? undefined : `traces of the format ${format} do not have ${what}`
}

/** The figures of a function that a trace does not have. */
export function nothing(like: Measures): Measures {
  return Object.fromEntries(
    (Object.keys(like) as BudgetFigure[]).map((figure) => {
      const one = like[figure] as Measure
      return [figure, 'unknown' in one ? one : { value: 0n, ...('whole' in BUDGET_FIGURES[figure] && { whole: 0n }) }]
    }),
  )
}
