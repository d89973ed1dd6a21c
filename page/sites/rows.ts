import { OwnFrames } from '../../lib/names/own-frames.js'
import { MORE, rowLabels, rowParts, type RowSource } from '../../lib/names/row-labels.js'
import type { Integer, ReportSites, StackFrames } from '../../lib/transforms/report/result.js'
import type { Model } from '../model.js'

/** Columns of the sites that have one integer for each. */
export type SiteFigure = {
  [Name in keyof ReportSites]-?: NonNullable<ReportSites[Name]> extends Integer[] ? Name : never
}[keyof ReportSites]

/** The number of frames of a site that are shown, and their characters: more only where rows would be alike. */
const FRAMES = 5
const WIDTH = 150
/** The same for labels of pictures. */
const LABEL_FRAMES = 3
const LABEL_WIDTH = 70
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
  /** Whether rules leave the leaks of the site out. */
  readonly isSuppressed?: boolean
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
      const isSuppressed = (sites.suppressedBlocks?.[site] ?? 0) > 0 && named.stack.length > 0
      return { ...named, isSuppressed, site, node: sites.node[site], text }
    })
    known.set(model, rows)
  }
  return rows
}

/** The stacks of one table, named so that no two are alike. @param rest the name of an empty one */
export function namedStacks(model: Model, stacks: readonly StackFrames[], rest: string): NamedStack[] {
  return rowParts(sourcesOf(model, stacks, rest), { own: new OwnFrames(), width: WIDTH, frames: FRAMES }).map(
    ({ frames, via }, n) => {
      const [first = '', ...callers] = frames.map((text) => text.replace(/^(?:in|at) /, ''))
      const [, name = first, place] = /^(.*) at (\S.*)$/s.exec(first) ?? []
      const hidden = via.map((text) => `via ${text}`)
      const more = (callers.at(-1) === MORE ? callers.slice(0, -1) : callers).map((text) =>
        text === MORE ? '…' : text,
      )
      return { name, place, callers: [...more, ...hidden], stack: model.stack(stacks[n] ?? []) }
    },
  )
}

/** The stacks of one picture, each in one line, of which no two are alike. */
export function stackLabels(model: Model, stacks: readonly StackFrames[]): string[] {
  const options = { own: new OwnFrames(), width: LABEL_WIDTH, frames: LABEL_FRAMES, next: ' ← ' }
  return rowLabels(sourcesOf(model, stacks, '(all other sites)'), options).map((label) =>
    label.replace(/^(?:in|at) |(?<= ← )in /g, '').replace(/(?<= ← )\.\.\.(?=,| ←|$)/g, '…'),
  )
}

function sourcesOf(model: Model, stacks: readonly StackFrames[], rest: string): RowSource[] {
  return stacks.map((frames) =>
    frames.length === 0
      ? { text: rest }
      : { stack: frames.filter((frame) => frame !== LEFT_OUT).map((frame) => model.stackText(frame)) },
  )
}
