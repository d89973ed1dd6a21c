import type { LiveSites } from '../../lib/transforms/report/live-log.js'
import type { App } from '../app.js'
import { changeColour, changeTree, signedText } from '../flame/change.js'
import { graph } from '../flame/graph.js'
import { Model } from '../model.js'
import { elementsOf } from '../parts/canvas.js'
import { bytesColumn, countColumn } from '../parts/columns.js'
import { el } from '../parts/dom.js'
import { bytes, counted, exactBytes, grouped, share } from '../parts/format.js'
import { table, type Column } from '../parts/table.js'
import { SITE } from '../sites/name.js'
import { namedStacks, type NamedStack } from '../sites/rows.js'

/** A site in the table. */
interface Row extends NamedStack {
  readonly n: number
}

/** The maximum number of rows of the table. */
const MOST_ROWS = 1000

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)

/** The live set at a moment, or what changed between two, as a table and a flame graph. @param when the moments */
export function momentPanel(app: App, sites: LiveSites, when: string): HTMLElement {
  const isChange = sites.fromEvent !== undefined
  const model = new Model({ ...app.model.data, frames: sites.frames })
  const all = sitesOf(sites)
  const largest = largestSites(sites, all)
  const stacks = largest.map((n) => sites.stack[n] ?? [])
  const rows = namedStacks(model, stacks, '[unknown]').map((named, i): Row => {
    const n = largest[i] ?? 0
    return { ...named, isSuppressed: sites.suppressed?.[n] ?? false, n }
  })
  const list = table<Row>(isChange ? changeColumns(sites) : liveColumns(sites), {
    label: isChange ? 'sites that changed' : 'sites that are live',
    sortBy: isChange ? 'Change' : 'Live',
    empty: isChange ? 'Nothing was born or ended.' : 'Nothing is live.',
    step: 20,
    inFiles: () => all.map((n) => unnamed(model, sites, n)),
  })
  list.set(rows)
  return el(
    'div',
    { class: 'block moment', attributes: { tabindex: '-1' } },
    el('h3', {}, isChange ? `Between ${when}` : `Live at ${when}`),
    el('p', { class: 'explain', attributes: { 'aria-live': 'polite' } }, `${summary(sites)}${ofSuppressed(sites)}`),
    rows.length === 0 ? undefined : picture(model, sites),
    rows.length === all.length
      ? undefined
      : el(
          'p',
          { class: 'explain' },
          `The table has the ${grouped(rows.length)} largest of ${counted(all.length, 'site')}.`,
        ),
    list.element,
  )
}

/** A site for files, which have its whole stack and no name. */
function unnamed(model: Model, sites: LiveSites, n: number): Row {
  const stack = model.stack(sites.stack[n] ?? [])
  return { name: '[unknown]', place: undefined, callers: [], stack, n }
}

/** The sites that are live, or whose blocks began or ended. */
function sitesOf({ node, bornBlocks, endedBlocks, fromEvent }: LiveSites): number[] {
  const sites = [...node.keys()]
  return fromEvent === undefined ? sites : sites.filter((n) => (bornBlocks[n] ?? 0) + (endedBlocks[n] ?? 0) > 0)
}

/** The sites with most live bytes, or with the largest changes: to name all of them would take too long. */
function largestSites(
  { liveBytes, beforeBytes, bornBytes, fromEvent }: LiveSites,
  sites: readonly number[],
): readonly number[] {
  if (sites.length <= MOST_ROWS) return sites
  const live = (n: number) => liveBytes[n] ?? 0
  const change = (n: number) => Math.abs(live(n) - (beforeBytes[n] ?? 0))
  if (fromEvent === undefined) return sites.toSorted((a, b) => live(b) - live(a)).slice(0, MOST_ROWS)
  return sites
    .toSorted((a, b) => change(b) - change(a) || (bornBytes[b] ?? 0) - (bornBytes[a] ?? 0))
    .slice(0, MOST_ROWS)
}

function summary(sites: LiveSites): string {
  const live = `${bytes(sum(sites.liveBytes))} (${exactBytes(sum(sites.liveBytes))}) in ${counted(sum(sites.liveBlocks), 'block')}`
  if (sites.fromEvent === undefined) return `${live} from ${counted(sites.node.length, 'site')}.`
  const change = sum(sites.liveBytes) - sum(sites.beforeBytes)
  return (
    `Born: ${bytes(sum(sites.bornBytes))} in ${counted(sum(sites.bornBlocks), 'block')}. ` +
    `Ended: ${bytes(sum(sites.endedBytes))} in ${counted(sum(sites.endedBlocks), 'block')}. ` +
    `Change: ${signedText(change, bytes)}, from ${bytes(sum(sites.beforeBytes))} to ${live}. ` +
    'A block that is resized ends and is born.'
  )
}

/** How much of the live set is at sites whose leaks rules leave out. */
function ofSuppressed({ suppressed, liveBytes, liveBlocks }: LiveSites): string {
  if (suppressed === undefined) return ''
  const of = (values: readonly number[]) => sum(values.filter((_, n) => suppressed[n] === true))
  return (
    ` Of the live set, ${bytes(of(liveBytes))} (${exactBytes(of(liveBytes))}) in ` +
    `${counted(of(liveBlocks), 'block')} are at sites whose leaks are suppressed; they are marked.`
  )
}

function picture(model: Model, sites: LiveSites): HTMLElement {
  const { parents, nodeFrames, node, liveBytes, beforeBytes, fromEvent } = sites
  const isChange = fromEvent !== undefined
  const changes = node.map((at, n) => [at, (liveBytes[n] ?? 0) - (isChange ? (beforeBytes[n] ?? 0) : 0)] as const)
  const tree = changeTree(parents, nodeFrames, changes)
  const state = el('output', { class: 'detail', attributes: { 'aria-live': 'polite' } })
  const name = (at: number) => model.name(tree.frames[at] ?? -1)
  const lines = (at: number) => [
    name(at),
    isChange
      ? `change: ${signedText(tree.net[at] ?? 0, bytes)}`
      : `live: ${bytes(tree.totals[at] ?? 0)}, ${share(tree.totals[at] ?? 0, tree.totals[0] ?? 0)}`,
  ]
  const flame = graph({
    name,
    label: (at) => model.label(tree.frames[at] ?? -1),
    place: (at) => model.briefPlace(tree.frames[at] ?? -1),
    lines,
    ...(isChange && {
      amount: (at: number) => signedText(tree.net[at] ?? 0, bytes),
      fill: (at: number, isDark: boolean) => changeColour(tree.net[at] ?? 0, tree.totals[at] ?? 0, isDark),
    }),
    selected: (at) => state.replaceChildren(...elementsOf('span', lines(at))),
  })
  flame.set(tree)
  const explain = 'Widths are growth plus shrinkage: ▲ and red grew, ▼ and blue shrank.'
  return el(
    'div',
    { class: 'low-flame' },
    isChange ? el('p', { class: 'explain' }, explain) : undefined,
    state,
    flame.element,
  )
}

function amount(title: string, values: readonly number[], help: string): Column<Row> {
  return bytesColumn(title, ({ n }) => values[n] ?? 0, help)
}

function count(title: string, values: readonly number[], help: string): Column<Row> {
  return countColumn(title, ({ n }) => values[n] ?? 0, help)
}

function liveColumns({ liveBytes, liveBlocks }: LiveSites): Column<Row>[] {
  const whole = sum(liveBytes)
  return [
    SITE,
    amount('Live', liveBytes, 'bytes that are live at the moment'),
    { title: 'Share', key: ({ n }) => liveBytes[n] ?? 0, cell: ({ n }) => share(liveBytes[n] ?? 0, whole) },
    count('Blocks', liveBlocks, 'blocks that are live at the moment'),
  ]
}

function changeColumns(sites: LiveSites): Column<Row>[] {
  const change = ({ n }: Row) => (sites.liveBytes[n] ?? 0) - (sites.beforeBytes[n] ?? 0)
  return [
    SITE,
    {
      title: 'Change',
      help: 'bytes live at the end of the part, less those at its begin',
      key: (row) => Math.abs(change(row)),
      cell: (row) =>
        el('span', { class: change(row) > 0 ? 'up' : change(row) < 0 ? 'down' : '' }, signedText(change(row), bytes)),
      exact: (row) => exactBytes(change(row)),
    },
    amount('Before', sites.beforeBytes, 'bytes live when the part begins'),
    amount('After', sites.liveBytes, 'bytes live when the part ends'),
    amount('Born', sites.bornBytes, 'bytes of blocks that begin in the part'),
    count('Blocks born', sites.bornBlocks, 'blocks that begin in the part'),
    amount('Ended', sites.endedBytes, 'bytes of blocks that end in the part'),
    count('Blocks ended', sites.endedBlocks, 'blocks that end in the part'),
  ]
}
