import type { ReportChanges, ReportComparison } from '../../lib/transforms/report/result.js'
import type { App } from '../app.js'
import { changeColour, signedText } from '../flame/change.js'
import { comparedStacks, comparedTree } from '../flame/compared.js'
import { changedFunctions, type ChangedFunction } from '../flame/changed-functions.js'
import { graph } from '../flame/graph.js'
import { layOut } from '../flame/tree.js'
import type { Model } from '../model.js'
import { elementsOf } from '../parts/canvas.js'
import { ChartGroup } from '../parts/chart.js'
import { bytesColumn } from '../parts/columns.js'
import { el } from '../parts/dom.js'
import { bytes, counted, exactBytes, grouped, secondsOf, toNumber } from '../parts/format.js'
import { table, type Column } from '../parts/table.js'
import type { ComparedFigure } from './changed-sites.js'

/** The part of the width below which no screen shows a box. */
const LEAST_PART = 1 / 8192

/** What no text matches. */
const NOTHING = /(?!)/

/** The flame graph of a comparison. */
export interface ChangeGraph {
  readonly element: HTMLElement
  show(figure: ComparedFigure, isBlocks: boolean): void
  /** Does what takes time of showing a figure, so that it is shown at once later. */
  prepare(figure: ComparedFigure): void
}

/** The stacks that differ as a flame graph, whose widths are growth plus shrinkage. */
export function changeGraph(model: Model, changes: ReportChanges): ChangeGraph {
  const stacks = comparedStacks(model, changes)
  let tree = comparedTree(stacks, changes, 'endBytes')
  let show: (value: number) => string = bytes
  const state = el('output', { class: 'detail', attributes: { 'aria-live': 'polite' } })
  const lines = (node: number) => [stacks.name(node), `change: ${signedText(tree.net[node] ?? 0, show)}`]
  const picture = graph({
    name: stacks.name,
    label: stacks.label,
    amount: (node) => signedText(tree.net[node] ?? 0, show),
    lines,
    fill: (node, isDark) => changeColour(tree.net[node] ?? 0, tree.totals[node] ?? 0, isDark),
    selected: (node) => state.replaceChildren(...elementsOf('span', lines(node))),
  })
  const folded = changes.folded.reduce((sum, count) => sum + count, 0)
  const others = folded === 0 ? '' : ` Small differences of ${counted(folded, 'stack')} are in boxes called (other).`
  const shown = el(
    'div',
    { class: 'low-flame' },
    el('p', { class: 'explain' }, `Widths are growth plus shrinkage: ▲ and red grew, ▼ and blue shrank.${others}`),
    state,
    picture.element,
  )
  const none = el('p', { class: 'none' }, 'No stack differs in this figure.')
  return {
    element: el('div', {}, shown, none),
    show(figure, isBlocks) {
      show = isBlocks ? grouped : bytes
      tree = comparedTree(stacks, changes, isBlocks ? `${figure}Blocks` : `${figure}Bytes`)
      none.hidden = (tree.totals[0] ?? 0) > 0
      shown.hidden = !none.hidden
      if (none.hidden) picture.set(tree)
    },
    prepare(figure) {
      layOut(comparedTree(stacks, changes, `${figure}Bytes`), 0, LEAST_PART)
      // A search looks at the text of every frame.
      stacks.matching(NOTHING)
    },
  }
}

/** The functions of the stacks that differ. */
export function functionTable(model: Model, changes: ReportChanges, figure: ComparedFigure): HTMLElement {
  const change = (title: string, help: string, of: (row: ChangedFunction) => number): Column<ChangedFunction> => ({
    title,
    help,
    key: (row) => Math.abs(of(row)),
    cell: (row) => el('span', { class: of(row) > 0 ? 'up' : of(row) < 0 ? 'down' : '' }, signedText(of(row), bytes)),
    exact: (row) => exactBytes(of(row)),
  })
  const list = table<ChangedFunction>(
    [
      {
        title: 'Function',
        isText: true,
        key: ({ name }) => name,
        cell: ({ name }) => el('bdi', { class: 'name' }, name),
      },
      change('Change', 'with what it calls', ({ before, after }) => after - before),
      change(
        'Change, own',
        'of the blocks that it allocates itself',
        ({ ownBefore, ownAfter }) => ownAfter - ownBefore,
      ),
      bytesColumn('Before', ({ before }) => before, 'in the stacks that differ'),
      bytesColumn('After', ({ after }) => after, 'in the stacks that differ'),
    ],
    { label: 'functions that differ', sortBy: 'Change, own', empty: 'No function differs.', step: 20 },
  )
  list.set(changedFunctions(model, changes, `${figure}Bytes`))
  return list.element
}

/** Live bytes of both runs, each from its begin; by time where both have it in known units, by events otherwise. */
export function bothTimelines({ model }: App, { timeline: old, old: name }: ReportComparison): HTMLElement | undefined {
  const { timeline } = model.data
  if (old === undefined || (old.event.length === 0 && timeline.event.length === 0)) return undefined
  const [here, there] = [secondsOf(model.unit), secondsOf(old.unit)]
  const isTimed = here !== undefined && there !== undefined && timeline.time !== undefined && old.time !== undefined
  const seconds = (times: readonly (number | string | null)[], unit: number) => {
    let last = 0
    return times.map((at) => (last = Math.max(last, at === null ? last : Number(at) * unit)))
  }
  const xNew = isTimed ? seconds(timeline.time ?? [], here) : timeline.event
  const xOld = isTimed ? seconds(old.time ?? [], there) : old.event
  const x = [...new Set([0, ...xNew, ...xOld])].toSorted((a, b) => a - b)
  const levels = (at: readonly number[], values: readonly (number | string)[]) => {
    let n = 0
    return x.map((place) => {
      while (n < at.length && at[n] < place) n++
      return n === at.length ? null : toNumber(values[n])
    })
  }
  const text = (value: number) => (isTimed ? `${value.toPrecision(4)} s` : grouped(Math.round(value)))
  return new ChartGroup().chart({
    title: 'Live bytes of both runs',
    x,
    series: [
      { title: `before: ${name}`, values: levels(xOld, old.maxBytes), colour: 'series-1', isDashed: true },
      { title: `after: ${model.data.name}`, values: levels(xNew, timeline.maxBytes), colour: 'series-0' },
    ],
    xAxis: {
      title: isTimed ? 'time since the first event of each run' : 'event of each run',
      quantity: isTimed ? { kind: 'duration', seconds: 1 } : { kind: 'count' },
      text,
    },
    yAxis: { title: 'live bytes', quantity: { kind: 'bytes' } },
    showY: bytes,
  }).element
}
