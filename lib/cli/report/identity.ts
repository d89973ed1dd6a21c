import type { Statistics } from '../../transforms/statistics/result.js'

/** What is shown of figures that cannot be known: see `Statistics.identified`. */
export const UNKNOWN_FIGURE = '-'

/** Why temporary allocations and lifetimes are not known, and how to know them. */
export const UNIDENTIFIED =
  'an interpreted heaptrack file does not say which block is freed, so temporary allocations and lifetimes are not ' +
  'known; recordings with addresses have them, such as those of hf-record without --stack'

/** The figures that depend on which block is freed. */
const FIGURES = new Set(['temporary', 'lifetimes', 'lived'])

/** The statistics for JSON: null where a figure cannot be known. */
export function knownFigures(statistics: Partial<Statistics>, identified: boolean): unknown {
  if (identified) return statistics
  const known = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(known)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, FIGURES.has(key) ? null : known(one)]))
  }
  return known(statistics)
}
