import { SuppressionSet } from '../../names/suppression-set.js'
import type { Suppression } from '../../names/suppression.js'
import { SuppressibleFrames } from '../../names/suppressions.js'
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

/**
 * Statistics without the leaks that rules suppress: `leaked` of the whole and of each site is without them, and
 * `suppressed` has them, in total and for each rule. A leak counts for the first rule that matches it. All other
 * figures stay, also the leaks by size, thread and process, to which rules do not apply.
 */
export function suppress(statistics: Statistics, rules: readonly Suppression[]): Statistics {
  const amounts = rules.map((): Amount => ({ blocks: 0, bytes: 0n }))
  const suppressing = new SuppressedSites(rules)
  const sum: Amount = { blocks: 0, bytes: 0n }
  const sites = statistics.sites.map((site) => {
    if (site.leaked.blocks === 0) return site
    const rule = amounts[suppressing.find(site)]
    if (rule === undefined) return site
    for (const amount of [rule, sum]) {
      amount.blocks += site.leaked.blocks
      amount.bytes += site.leaked.bytes
    }
    return withFigures(site, { leaked: { blocks: 0, bytes: 0n } })
  })
  const { blocks, bytes } = statistics.leaked
  const suppressed = suppressedBy(rules, amounts, sum)
  const entries = Object.entries({ ...statistics, sites }).flatMap(([key, value]) =>
    key === 'leaked'
      ? [[key, { blocks: blocks - sum.blocks, bytes: bytes - sum.bytes }] as const, ['suppressed', suppressed] as const]
      : [[key, value] as const],
  )
  return Object.fromEntries(entries) as unknown as Statistics
}

/**
 * The suppressed leaks, in total and by each rule that holds for any. @param amounts the suppressed leaks of each rule
 */
export function suppressedBy(rules: readonly Suppression[], amounts: readonly Amount[], sum: Amount): Suppressed {
  return {
    ...sum,
    rules: rules.flatMap(({ name }, i) => (amounts[i].blocks === 0 ? [] : [{ name, ...amounts[i] }])),
  }
}
