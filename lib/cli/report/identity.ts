/** What is shown of figures that cannot be known: see `Statistics.identified`. */
export const UNKNOWN_FIGURE = '-'

/** The figures that depend on which block is freed. */
const FIGURES = new Set(['temporary', 'lifetimes', 'lived'])

/** The statistics for JSON: null where a figure cannot be known. */
export function knownFigures(statistics: object, identified: boolean): unknown {
  if (identified) return statistics
  const known = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(known)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, FIGURES.has(key) ? null : known(one)]))
  }
  return known(statistics)
}
