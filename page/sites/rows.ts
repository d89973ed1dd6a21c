import type { Integer, ReportSites } from '../../lib/transforms/report/result.js'
import type { Model } from '../model.js'

/** Columns of the sites that have one integer for each. */
export type SiteFigure = {
  [Name in keyof ReportSites]-?: NonNullable<ReportSites[Name]> extends Integer[] ? Name : never
}[keyof ReportSites]

/** A site, as tables show it. */
export interface SiteRow {
  /** Its row in `ReportData.sites`. */
  readonly site: number
  readonly node: number
  /** The innermost frame. */
  readonly name: string
  readonly place: string | undefined
  /** The frames as text, the innermost first. */
  readonly stack: readonly string[]
  /** What a search looks at. */
  readonly text: string
}

/** All sites of a report. */
export function siteRows(model: Model): SiteRow[] {
  const { sites } = model.data
  return sites.stack.map((frames, site) => {
    const stack = model.stack(frames)
    const [innermost] = frames
    const name = innermost === undefined ? '(all other sites)' : model.name(innermost)
    return {
      site,
      node: sites.node[site] as number,
      name,
      place: innermost === undefined ? undefined : model.place(innermost),
      stack,
      text: stack.length === 0 ? name : stack.join('\n'),
    }
  })
}
