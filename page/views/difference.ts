import { namedFrameText } from '../../lib/names/named-frame.js'
import { OwnFrames } from '../../lib/names/own-frames.js'
import type { ReportComparison } from '../../lib/transforms/report/result.js'
import type { App } from '../app.js'
import { changeColour, changeTree, signedText, type ChangeTree } from '../flame/change.js'
import { graph } from '../flame/graph.js'
import type { Model } from '../model.js'
import { ChartGroup } from '../parts/chart.js'
import { el } from '../parts/dom.js'
import { bytes, exactBytes, grouped, secondsOf, toNumber } from '../parts/format.js'
import { table, type Column } from '../parts/table.js'

type Figure = 'end' | 'peak' | 'allocated' | 'temporary'

/** The stacks that differ as a flame graph, whose widths are growth plus shrinkage. */
export function changeGraph(model: Model, c: ReportComparison, figure: Figure, isBlocks: boolean): HTMLElement {
  const name = isBlocks ? (`${figure}Blocks` as const) : (`${figure}Bytes` as const)
  const show = isBlocks ? grouped : bytes
  const tree = treeOf(model, c, (n) => toNumber(c.after[name][n]) - toNumber(c.before[name][n]))
  if ((tree.totals[0] ?? 0) === 0) return el('p', { class: 'none' }, 'No stack differs in this figure.')
  const state = el('output', { class: 'detail', attributes: { 'aria-live': 'polite' } })
  const nameOf = (node: number) => model.name(tree.frames[node] ?? -1)
  const lines = (node: number) => [nameOf(node), `change: ${signedText(tree.net[node] ?? 0, show)}`]
  const picture = graph({
    name: nameOf,
    label: (node) => `${signedText(tree.net[node] ?? 0, show)} ${model.label(tree.frames[node] ?? -1)}`,
    lines,
    fill: (node, isDark) => changeColour(tree.net[node] ?? 0, tree.totals[node] ?? 0, isDark),
    selected: (node) =>
      state.replaceChildren(...lines(node).map((line, n) => el('span', n === 0 ? { class: 'strong' } : {}, line))),
  })
  picture.set(tree)
  return el(
    'div',
    { class: 'low-flame' },
    el('p', { class: 'explain' }, 'Widths are growth plus shrinkage: ▲ and red grew, ▼ and blue shrank.'),
    state,
    picture.element,
  )
}

/** The tree of the stacks, without wrappers of allocation at the inner ends. */
function treeOf(model: Model, { stack }: ReportComparison, changeOf: (n: number) => number): ChangeTree {
  const own = new OwnFrames()
  const [parents, frames] = [[-1], [-1]]
  const children: Map<number, number>[] = [new Map()]
  const ends = stack.map((ids) => {
    const known = ids.filter((id) => id >= 0)
    const start =
      known.length === 0 ? 0 : own.start(known.map((id) => namedFrameText(model.data.frames[id] ?? { name: '' })))
    let node = 0
    for (const frame of known.slice(start).toReversed()) {
      const siblings = children[node] as Map<number, number>
      let next = siblings.get(frame)
      if (next === undefined) {
        next = parents.push(node) - 1
        frames.push(frame)
        children.push(new Map())
        siblings.set(frame, next)
      }
      node = next
    }
    return node
  })
  return changeTree(
    parents,
    frames,
    ends.map((node, n) => [node, changeOf(n)] as const),
  )
}

/** A function of the stacks that differ: what it and its callees had before and have after. */
interface FunctionRow {
  readonly name: string
  before: number
  after: number
  ownBefore: number
  ownAfter: number
}

/** The functions of the stacks that differ. */
export function functionTable(model: Model, c: ReportComparison, figure: Figure): HTMLElement {
  const rows = new Map<string, FunctionRow>()
  const own = new OwnFrames()
  c.stack.forEach((ids, n) => {
    const known = ids.filter((id) => id >= 0)
    const start =
      known.length === 0 ? 0 : own.start(known.map((id) => namedFrameText(model.data.frames[id] ?? { name: '' })))
    const [before, after] = [toNumber(c.before[`${figure}Bytes`][n]), toNumber(c.after[`${figure}Bytes`][n])]
    new Set(known.slice(start).map((id) => model.name(id))).forEach((name) => {
      const row = rows.get(name) ?? { name, before: 0, after: 0, ownBefore: 0, ownAfter: 0 }
      row.before += before
      row.after += after
      rows.set(name, row)
    })
    const inner = rows.get(known[start] === undefined ? '' : model.name(known[start]))
    if (inner === undefined) return
    inner.ownBefore += before
    inner.ownAfter += after
  })
  const amount = (title: string, help: string, of: (row: FunctionRow) => number): Column<FunctionRow> => ({
    title,
    help,
    key: of,
    cell: (row) => bytes(of(row)),
    exact: (row) => exactBytes(of(row)),
  })
  const change = (title: string, help: string, of: (row: FunctionRow) => number): Column<FunctionRow> => ({
    title,
    help,
    key: (row) => Math.abs(of(row)),
    cell: (row) => el('span', { class: of(row) > 0 ? 'up' : of(row) < 0 ? 'down' : '' }, signedText(of(row), bytes)),
    exact: (row) => exactBytes(of(row)),
  })
  const list = table<FunctionRow>(
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
      amount('Before', 'in the stacks that differ', ({ before }) => before),
      amount('After', 'in the stacks that differ', ({ after }) => after),
    ],
    { label: 'functions that differ', sortBy: 'Change, own', empty: 'No function differs.', step: 20 },
  )
  list.set([...rows.values()].filter(({ before, after }) => before !== 0 || after !== 0))
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
