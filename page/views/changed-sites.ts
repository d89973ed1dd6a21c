import type { Integer, ReportChanges } from '../../lib/transforms/report/result.js'
import { comparedStacks, type ComparedStacks } from '../flame/compared.js'
import { firstRows, numbersOf, rowsWhere, sumOf } from '../flame/numbers.js'
import type { Model } from '../model.js'
import { bytesColumn } from '../parts/columns.js'
import { el } from '../parts/dom.js'
import { bytes, counted, exactBytes, grouped, share } from '../parts/format.js'
import { table, type Table } from '../parts/table.js'
import { SITE } from '../sites/name.js'
import { namedStacks, type NamedStack } from '../sites/rows.js'

/** A figure that both runs have. */
export type ComparedFigure = 'end' | 'peak' | 'allocated' | 'temporary'

/** The table of the stacks that differ. */
export interface ChangedSites {
  readonly element: HTMLElement
  /** Shows those that match. @returns how many do */
  show(expression: RegExp | undefined): number
}

/** A stack in the table, or several. */
interface Row extends NamedStack {
  readonly before: Integer | bigint
  readonly after: Integer | bigint
  readonly blocks: bigint
}

/** The maximum number of rows of the table, besides that of all others: to name all of them would take too long. */
const MOST_ROWS = 1000

/** The stacks that differ in a figure, the largest differences in rows of their own. */
export function changedSites(model: Model, changes: ReportChanges, figure: ComparedFigure): ChangedSites {
  const stacks = comparedStacks(model, changes)
  const { inBytes, compare } = byDifference(changes, figure)
  const all: Uint32Array = Uint32Array.from(changes.node.keys())
  const hasFolded = changes.folded.some((count) => count > 0)
  let matching: Uint32Array = all
  let shownFor: RegExp | undefined | null = null
  const list = sitesTable(() => fileRows(model, changes, stacks, figure, Array.from(matching).toSorted(compare)))
  return {
    element: list.element,
    show(expression) {
      if (expression === shownFor) return stacksOf(changes, matching)
      shownFor = expression
      matching = expression === undefined ? all : stacks.matching(expression)
      const single = hasFolded ? rowsWhere(matching, (row) => changes.folded[row] === 0) : matching
      const shown = firstRows(single, MOST_ROWS, inBytes, compare)
      const isShown = new Uint8Array(all.length)
      for (const row of shown) isShown[row] = 1
      const others = rowsWhere(matching, (row) => isShown[row] === 0)
      const named = namedStacks(
        model,
        shown.map((row) => stacks.stack(row)),
        '(no stack)',
      )
      list.set([
        ...shown.map((row, n) => rowOf(changes, figure, [row], named[n] as NamedStack)),
        ...(others.length === 0 ? [] : [rowOf(changes, figure, others, nameOfOthers(changes, others))]),
      ])
      return stacksOf(changes, matching)
    },
  }
}

/** Orders rows: the largest difference in bytes first, and of equal ones the largest in blocks. */
function byDifference({ before, after, node }: ReportChanges, figure: ComparedFigure) {
  const change = (name: `${ComparedFigure}Bytes` | `${ComparedFigure}Blocks`) => {
    const [old, next] = [numbersOf(before[name]), numbersOf(after[name])]
    return Float64Array.from(node, (_, row) => Math.abs(next[row] - old[row]))
  }
  const [inBytes, inBlocks] = [change(`${figure}Bytes`), change(`${figure}Blocks`)]
  const compare = (a: number, b: number) => inBytes[b] - inBytes[a] || inBlocks[b] - inBlocks[a] || a - b
  return { inBytes, compare }
}

/** The number of stacks that are rows. */
function stacksOf({ folded }: ReportChanges, rows: Uint32Array): number {
  let sum = 0
  for (let n = 0; n < rows.length; n++) sum += Math.max(1, folded[rows[n]])
  return sum
}

/** Rows of a comparison as one of the table. */
function rowOf(
  { before, after }: ReportChanges,
  figure: ComparedFigure,
  rows: ArrayLike<number>,
  name: NamedStack,
): Row {
  const sum = (values: readonly Integer[]) => (rows.length === 1 ? (values[rows[0] ?? -1] ?? 0) : sumOf(values, rows))
  const [bytesName, blocksName] = [`${figure}Bytes`, `${figure}Blocks`] as const
  return {
    ...name,
    before: sum(before[bytesName]),
    after: sum(after[bytesName]),
    blocks: difference(sum(before[blocksName]), sum(after[blocksName])),
  }
}

function nameOfOthers(changes: ReportChanges, rows: Uint32Array): NamedStack {
  return {
    name: `(all others: ${counted(stacksOf(changes, rows), 'stack')})`,
    place: undefined,
    callers: [],
    stack: [],
  }
}

/** All rows, for files: each stack of its own, and folded ones together where they are. */
function fileRows(
  model: Model,
  changes: ReportChanges,
  stacks: ComparedStacks,
  figure: ComparedFigure,
  rows: readonly number[],
): Row[] {
  return rows.map((row) => {
    const stack = model.stack(stacks.stack(row))
    const folded = changes.folded[row]
    const whole = folded === 0 ? stack : [`(other) ${counted(folded, 'stack')}`, ...stack]
    return rowOf(changes, figure, [row], { name: whole[0] ?? '', place: undefined, callers: [], stack: whole })
  })
}

function sitesTable(inFiles: () => readonly Row[]): Table<Row> {
  const change = ({ before, after }: Row) => difference(before, after)
  return table<Row>(
    [
      SITE,
      bytesColumn('Before', ({ before }) => before),
      bytesColumn('After', ({ after }) => after),
      {
        title: 'Difference',
        key: (row) => Math.abs(Number(change(row))),
        cell: (row) => signed(change(row), true),
        exact: (row) => exactBytes(change(row)),
      },
      { title: 'Ratio', cell: ({ before, after }) => share(after, before) },
      {
        title: 'Difference in blocks',
        key: ({ blocks }) => Math.abs(Number(blocks)),
        cell: ({ blocks }) => signed(blocks, false),
      },
    ],
    { label: 'stacks that differ', sortBy: 'Difference', empty: 'No stack matches.', inFiles },
  )
}

/** How much more there is after than before. */
export function difference(old: Integer | bigint, next: Integer | bigint): bigint {
  return BigInt(next) - BigInt(old)
}

/** A difference with its sign, coloured: more is red. */
export function signed(value: bigint, isBytes: boolean): HTMLElement {
  const text = (isBytes ? bytes : grouped)(value < 0n ? -value : value)
  return el(
    'span',
    { class: value > 0n ? 'up' : value < 0n ? 'down' : '' },
    value > 0n ? `▲ +${text}` : value < 0n ? `▼ −${text}` : text,
  )
}
