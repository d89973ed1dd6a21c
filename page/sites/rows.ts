import { namedFrameText } from '../../lib/names/named-frame.js'
import { OwnFrames } from '../../lib/names/own-frames.js'
import { MORE, rowParts } from '../../lib/names/row-labels.js'
import type { Integer, ReportSites, StackFrames } from '../../lib/transforms/report/result.js'
import type { Model } from '../model.js'

/** Columns of the sites that have one integer for each. */
export type SiteFigure = {
  [Name in keyof ReportSites]-?: NonNullable<ReportSites[Name]> extends Integer[] ? Name : never
}[keyof ReportSites]

/** The number of frames of a site that are shown. */
const FRAMES = 9
/** In stacks, outer frames that were left out. */
const LEFT_OUT = -1

/** A stack, as tables show it: see docs/statistics.md#rows. */
export interface NamedStack {
  /** The innermost frame of the program's own. */
  readonly name: string
  readonly place: string | undefined
  /** Its callers, the nearest first. */
  readonly callers: readonly string[]
  /** All frames as text, the innermost first. */
  readonly stack: readonly string[]
}

/** A site, as tables show it. */
export interface SiteRow extends NamedStack {
  /** Its row in `ReportData.sites`. */
  readonly site: number
  readonly node: number
  /** What a search looks at. */
  readonly text: string
}

const known = new WeakMap<Model, SiteRow[]>()

/** All sites of a report. */
export function siteRows(model: Model): SiteRow[] {
  let rows = known.get(model)
  if (rows === undefined) {
    const { sites } = model.data
    rows = namedStacks(model, sites.stack, '(all other sites)').map((named, site) => {
      const text = named.stack.length === 0 ? named.name : named.stack.join('\n')
      return { ...named, site, node: sites.node[site] as number, text }
    })
    known.set(model, rows)
  }
  return rows
}

/** The stacks of one table, named so that no two are alike. @param rest the name of an empty one */
export function namedStacks(model: Model, stacks: readonly StackFrames[], rest: string): NamedStack[] {
  const textOf = (frame: number) => namedFrameText(model.data.frames[frame] ?? { name: model.text(frame) })
  const sources = stacks.map((frames) =>
    frames.length === 0 ? { text: rest } : { stack: frames.filter((frame) => frame !== LEFT_OUT).map(textOf) },
  )
  return rowParts(sources, { own: new OwnFrames(), width: Infinity, frames: FRAMES }).map(({ frames, via }, n) => {
    const [first = '', ...callers] = frames.map((text) => text.replace(/^(?:in|at) /, ''))
    const [, name = first, place] = /^(.*) at (\S.*)$/s.exec(first) ?? []
    const hidden = via.map((text) => `via ${text}`)
    const more = callers.at(-1) === MORE ? callers.slice(0, -1) : callers
    return { name, place, callers: [...more, ...hidden], stack: model.stack(stacks[n] ?? []) }
  })
}

/** A site in few words: the innermost frames. */
export function siteLabel({ name, callers }: NamedStack): string {
  const text = [name, ...callers.slice(0, 2).map((caller) => caller.replace(/ at .*$/, ''))].join(' ← ')
  return text.length > 70 ? `${text.slice(0, 69)}…` : text
}
