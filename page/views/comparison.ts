import type { ReportComparison } from '../../lib/transforms/report/result.js'
import type { View } from '../app.js'
import { bothTimelines, changeGraph, functionTable } from './difference.js'
import { none } from '../parts/bars.js'
import { choice, el } from '../parts/dom.js'
import { bytes, counted, exactBytes, grouped, share, toNumber, type Integer } from '../parts/format.js'
import { table, type Table } from '../parts/table.js'
import { siteName } from '../sites/name.js'
import { namedStacks, type NamedStack } from '../sites/rows.js'
import { search } from '../sites/search.js'

const FIGURES = [
  ['end', 'Live at the end'],
  ['peak', 'Live at the peak'],
  ['allocated', 'Allocated'],
  ['temporary', 'Temporary'],
] as const
type Figure = (typeof FIGURES)[number][0]

interface Row extends NamedStack {
  readonly n: number
}

/** The differences from another run. */
export const comparison: View = {
  title: 'Comparison',
  has: ({ data }) => data.comparison !== undefined,
  mount(app) {
    const { model } = app
    const c = model.data.comparison
    if (c === undefined) return { element: el('section') }
    const lead = `Compared with ${c.old}: ${counted(c.differing, 'stack')} ${c.differing === 1 ? 'differs' : 'differ'}.`
    const rows = namedStacks(model, c.stack, '(all others)').map((named, n): Row => ({ ...named, n }))
    let list: Table<Row> | undefined
    let expression: RegExp | undefined
    const box = el('div')
    const show = () => {
      const found = rows.filter(({ stack, name }) => expression?.test([name, ...stack].join('\n')) ?? true)
      list?.set(found)
      field.say(expression === undefined ? '' : `${grouped(found.length)} of ${counted(rows.length, 'stack')}`)
    }
    const field = search('Search', (next) => {
      expression = next
      show()
    })
    let isBlocks = false
    let current: Figure = 'end'
    const choose = (figure: Figure) => {
      current = figure
      list = differences(c, figure)
      box.replaceChildren(
        changeGraph(model, c, figure, isBlocks),
        el('h3', {}, 'Sites'),
        list.element,
        el('h3', {}, 'Functions'),
        functionTable(model, c, figure),
      )
      show()
    }
    const figures = choice(
      'Figure',
      FIGURES.filter(([name]) => model.isKnown(name)),
      choose,
    )
    const units = choice(
      'Flame graph of',
      [
        ['bytes', 'bytes'],
        ['blocks', 'blocks'],
      ],
      (unit) => {
        isBlocks = unit === 'blocks'
        choose(current)
      },
    )
    choose('end')
    return {
      element: el(
        'section',
        {},
        el('p', { class: 'lead' }, lead),
        totals(
          c,
          FIGURES.filter(([name]) => model.isKnown(name)),
        ),
        bothTimelines(app, c),
        rows.length === 0
          ? none('No stack differs: both runs have the same figures.')
          : el('div', {}, el('div', { class: 'bar' }, figures.element, units.element, field.element), box),
      ),
      ...(rows.length > 0 && { search: field.input }),
    }
  },
}

function totals({ totals: { old, new: next } }: ReportComparison, known: (typeof FIGURES)[number][]): HTMLElement {
  const list = table<(typeof FIGURES)[number]>(
    [
      { title: 'Figure', isText: true, cell: ([, title]) => title },
      {
        title: 'Before',
        cell: ([name]) => bytes(old[`${name}Bytes`]),
        exact: ([name]) => exactBytes(old[`${name}Bytes`]),
      },
      {
        title: 'After',
        cell: ([name]) => bytes(next[`${name}Bytes`]),
        exact: ([name]) => exactBytes(next[`${name}Bytes`]),
      },
      {
        title: 'Difference',
        cell: ([name]) => signed(difference(old[`${name}Bytes`], next[`${name}Bytes`]), true),
        exact: ([name]) => exactBytes(difference(old[`${name}Bytes`], next[`${name}Bytes`])),
      },
      { title: 'Ratio', cell: ([name]) => share(next[`${name}Bytes`], old[`${name}Bytes`]) },
      { title: 'Blocks before', cell: ([name]) => grouped(old[`${name}Blocks`]) },
      { title: 'Blocks after', cell: ([name]) => grouped(next[`${name}Blocks`]) },
      {
        title: 'Difference in blocks',
        cell: ([name]) => signed(difference(old[`${name}Blocks`], next[`${name}Blocks`]), false),
      },
    ],
    { label: 'totals of both runs', empty: '' },
  )
  list.set(known)
  return list.element
}

function differences({ before, after }: ReportComparison, figure: Figure): Table<Row> {
  const [oldBytes, newBytes] = [before[`${figure}Bytes`], after[`${figure}Bytes`]]
  const [oldBlocks, newBlocks] = [before[`${figure}Blocks`], after[`${figure}Blocks`]]
  const byBytes = ({ n }: Row) => difference(oldBytes[n] ?? 0, newBytes[n] ?? 0)
  const byBlocks = ({ n }: Row) => difference(oldBlocks[n] ?? 0, newBlocks[n] ?? 0)
  return table<Row>(
    [
      {
        title: 'Site',
        isText: true,
        key: ({ name }) => name,
        cell: siteName,
        file: ({ stack, name }) => (stack.length === 0 ? name : stack.join(' < ')),
      },
      {
        title: 'Before',
        key: ({ n }) => toNumber(oldBytes[n]),
        cell: ({ n }) => bytes(oldBytes[n] ?? 0),
        exact: ({ n }) => exactBytes(oldBytes[n] ?? 0),
      },
      {
        title: 'After',
        key: ({ n }) => toNumber(newBytes[n]),
        cell: ({ n }) => bytes(newBytes[n] ?? 0),
        exact: ({ n }) => exactBytes(newBytes[n] ?? 0),
      },
      {
        title: 'Difference',
        key: (row) => Math.abs(Number(byBytes(row))),
        cell: (row) => signed(byBytes(row), true),
        exact: (row) => exactBytes(byBytes(row)),
      },
      { title: 'Ratio', cell: ({ n }) => share(newBytes[n] ?? 0, oldBytes[n] ?? 0) },
      {
        title: 'Difference in blocks',
        key: (row) => Math.abs(Number(byBlocks(row))),
        cell: (row) => signed(byBlocks(row), false),
      },
    ],
    { label: 'stacks that differ', sortBy: 'Difference', empty: 'No stack matches.' },
  )
}

function difference(old: Integer, next: Integer): bigint {
  return BigInt(next) - BigInt(old)
}

/** A difference with its sign, coloured: more is red. */
function signed(value: bigint, isBytes: boolean): HTMLElement {
  const text = isBytes ? bytes(value) : grouped(value)
  return el(
    'span',
    { class: value > 0n ? 'up' : value < 0n ? 'down' : '' },
    value > 0n ? `▲ +${text}` : value < 0n ? `▼ ${text}` : text,
  )
}
