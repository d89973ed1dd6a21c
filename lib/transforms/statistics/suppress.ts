import { SuppressionSet } from '../../names/suppression-set.js'
import type { Suppression } from '../../names/suppression.js'
import { SuppressibleFrames } from '../../names/suppressions.js'
import { addAmount, minus, NOTHING } from './amounts.js'
import type { Amount, Site, Statistics, Suppressed } from './result.js'
import { withFigures } from './site-table.js'

/**
 * Decides for all views which rule holds for the leaks of a site. Rules compare the data of the trace (functions, files
 * and modules), and not the names that views give to places.
 */
export class SuppressedSites {
  private readonly set: SuppressionSet
  private readonly frames = new SuppressibleFrames()

  constructor(rules: readonly Suppression[]) {
    this.set = new SuppressionSet(rules)
  }

  /** The position of the first rule that holds for a site; -1 if none does, as for allocations without a site. */
  find(site: Site): number {
    return site.rest === undefined ? this.set.find(this.frames.of(site)) : -1
  }
}

/** Adds up the leaks that rules suppress. A leak counts for the first rule that matches it. */
export class SuppressedLeaks {
  private readonly sites: SuppressedSites
  private readonly amounts: readonly Amount[]
  private readonly sum: Amount = { ...NOTHING }

  constructor(private readonly rules: readonly Suppression[]) {
    this.sites = new SuppressedSites(rules)
    this.amounts = rules.map(() => ({ ...NOTHING }))
  }

  /** Takes the leaks of a site. @returns whether they are suppressed */
  take(site: Site, leaked: Amount): boolean {
    const rule = this.amounts[this.sites.find(site)]
    if (rule === undefined) return false
    addAmount(rule, leaked)
    addAmount(this.sum, leaked)
    return true
  }

  /** The suppressed leaks, in total and by each rule that holds for any, and the others. @param all both together */
  result(all: Amount): { leaked: Amount; suppressed: Suppressed } {
    const { rules, amounts, sum } = this
    return {
      leaked: minus(all, sum),
      suppressed: {
        ...sum,
        rules: rules.flatMap(({ name }, i) => (amounts[i].blocks === 0 ? [] : [{ name, ...amounts[i] }])),
      },
    }
  }
}

/**
 * Statistics without the leaks that rules suppress: `leaked` of the whole and of each site is without them, and
 * `suppressed` has them, in total and for each rule. All other figures stay, also the leaks by size, thread and
 * process, to which rules do not apply.
 */
export function suppress(statistics: Statistics, rules: readonly Suppression[]): Statistics {
  const leaks = new SuppressedLeaks(rules)
  const sites = statistics.sites.map((site) =>
    site.leaked.blocks > 0 && leaks.take(site, site.leaked) ? withFigures(site, { leaked: { ...NOTHING } }) : site,
  )
  const result = leaks.result(statistics.leaked)
  const entries = Object.entries({ ...statistics, sites }).flatMap(([key, value]) =>
    key === 'leaked' ? Object.entries(result) : [[key, value] as const],
  )
  return Object.fromEntries(entries) as unknown as Statistics
}
