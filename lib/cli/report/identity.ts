/** What is shown of figures that cannot be known: see `Statistics.identified`. */
export const UNKNOWN_FIGURE = '-'

const FIGURES: ReadonlySet<string> = new Set(['temporary', 'lifetimes', 'lived'])
const NONE: ReadonlySet<string> = new Set()

/** The figures that depend on which block is freed, where that is not known. */
export function unknownFigures(identified: boolean): ReadonlySet<string> {
  return identified ? NONE : FIGURES
}
