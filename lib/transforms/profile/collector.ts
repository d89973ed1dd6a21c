import type { EventBatch } from '../../event/batch.js'
import { commandOf } from '../../event/header.js'
import { checkOptions, ofOption, wholeNumber, type OptionNames } from '../../event/options.js'
import { checkMoment } from '../fates/moment.js'
import { MomentSearch } from '../fates/moment-search.js'
import { TEMPORARY_BY, TEMPORARY_DEFINITIONS, type TemporaryDefinition } from '../option-values.js'
import { StatisticsCollector } from '../statistics/collector.js'
import type { Profile, ProfileMoment, ProfileOptions } from './profile.js'
import { stacksOf, type Stacks } from './stacks.js'

/** The maximum number of distinct stacks, for which their table in the kernel takes at most 64 MiB. */
export const MAX_STACKS = 250_000

const OPTIONS: OptionNames<ProfileOptions> = {
  at: true,
  threadRoot: 'boolean',
  temporaryBy: TEMPORARY_DEFINITIONS,
  stacks: wholeNumber(1, MAX_STACKS),
}

/**
 * Collects the profile of a stream of batches in one pass: the statistics, and their figures for each stack. Memory
 * grows with the number of blocks that are live at a time (as for statistics), and with the distinct stacks: 1 to 2 KB
 * for each.
 *
 * @example
 * const collector = new ProfileCollector({ at: 'peak' })
 * for await (const batch of openTrace('app.mtrc')) collector.add(batch)
 * const { frames, tree } = collector.finish()
 */
export class ProfileCollector {
  /** As in `Stage`. */
  readonly countsInfos = true
  private readonly collector: StatisticsCollector
  private readonly at: ProfileMoment
  private readonly temporaryBy: TemporaryDefinition
  private readonly search: MomentSearch | undefined
  private command: string | undefined

  /** @throws RangeError for an impossible moment, an invalid limit, and unknown options */
  constructor(options: ProfileOptions = {}) {
    checkOptions(options, OPTIONS, 'profile')
    const { at = 'end', threadRoot = false, temporaryBy = TEMPORARY_BY, stacks = MAX_STACKS } = options
    this.at = at
    this.temporaryBy = temporaryBy
    this.collector = new StatisticsCollector({ sites: stacks, byThread: threadRoot })
    if (at !== 'end') ofOption('profile', 'at', () => checkMoment(at))
    if (typeof at === 'object') this.search = new MomentSearch(at)
  }

  /** Takes the events of a batch. A batch with another header begins another trace: no block outlives its trace. */
  add(batch: EventBatch): void {
    const { collector } = this
    this.command ??= commandOf(batch.header)
    const before = this.search?.find(batch)
    if (before === undefined) {
      collector.add(batch)
      return
    }
    // The moment may be at the end of the previous trace, which the next event would end.
    if (before > 0) collector.add(batch, 0, before)
    collector.sites.keep()
    collector.add(batch, before)
  }

  /**
   * The profile of everything that was added. Ends the use of the collector.
   * @param complete whether the input was read to its end
   * @throws Error when the trace has no event with the requested number, or no times
   */
  finish(complete = true): Profile {
    const { collector, search, at, command, temporaryBy } = this
    const { sites } = collector
    if (search !== undefined && !search.found) {
      if (complete) search.check()
      sites.keep()
    }
    // Without sites, two profiles are compared by size.
    const { profile } = finishProfile(collector, at, complete, sites.hasSites ? 0 : Infinity)
    return { ...profile, temporaryBy, ...(command !== undefined && { command }) }
  }
}

/**
 * The profile from a collector of statistics, which must not be used afterwards, and the rows of its sites.
 * @param at the moment of the live figures; if it is neither `end` nor `peak`, the moment at which the sites were kept
 * @param sizes the number of sizes that the statistics list
 */
export function finishProfile(
  collector: StatisticsCollector,
  at: ProfileMoment,
  complete: boolean,
  sizes = 0,
): { profile: Profile; stacks: Stacks } {
  const { sites, threads, times } = collector
  const statistics = collector.finish(complete, { sites: false, sizes })
  const stacks = stacksOf(sites, threads)
  const { frames, tree, isFull, rows } = stacks
  if (isFull && !statistics.full.includes('sites')) statistics.full.push('sites')
  const [hasCpus, isTimed] = [statistics.crossCpuFrees !== undefined, statistics.time !== undefined]
  const profile: Profile = {
    statistics,
    at,
    temporaryBy: TEMPORARY_BY,
    elapsed: ({ event, time }) => times.elapsed(event, time),
    frames,
    tree,
    *samples() {
      for (const { row, node } of rows()) {
        const figures = sites.figures(row, hasCpus, isTimed)
        const live = at === 'end' ? figures.leaked : at === 'peak' ? figures.atPeak : sites.keptAt(row)
        yield { node, ...figures, live, site: () => sites.keys.site(sites.owners(row).site) }
      }
    },
  }
  return { profile, stacks }
}
