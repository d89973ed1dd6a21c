import type { TreeMetric } from '../../lib/transforms/report/result.js'
import type { App, Mounted, Target, View } from '../app.js'
import { functionFigures, neighboursOf, type FunctionFigures } from '../flame/functions.js'
import { groupings, groupsOf, type FrameGroups } from '../flame/groups.js'
import { METRICS, type Model } from '../model.js'
import type { By } from '../target.js'
import { block } from '../parts/bars.js'
import { bytesColumn, countColumn } from '../parts/columns.js'
import { button, choice, el } from '../parts/dom.js'
import { bytes, counted, grouped, share } from '../parts/format.js'
import { table, type Column } from '../parts/table.js'
import { search } from '../sites/search.js'
import { literal } from '../parts/text.js'

/** The figures of the table: the column's title, and whether it is also inclusive. */
const COLUMNS: readonly (readonly [metric: TreeMetric, title: string])[] = [
  ['allocatedBytes', 'Allocated'],
  ['allocatedBlocks', 'Allocations'],
  ['peakBytes', 'At peak'],
  ['endBytes', 'Leaked'],
  ['temporaryBlocks', 'Temporary'],
]

const PLURALS: Readonly<Record<By, string>> = { function: 'functions', file: 'files', module: 'modules' }

/** Every function, file or module with its own and its inclusive figures; one of them with its callers and callees. */
export const functions: View = {
  title: 'Functions',
  mount(app): Mounted {
    const { model } = app
    const choices = groupings(model)
    const tables = new Map<By, GroupTable>()
    let by: By = 'function'
    let expression: RegExp | undefined
    const rows = el('div')
    const chosen = el('div', { attributes: { 'aria-live': 'polite' } })
    const draw = () => {
      let made = tables.get(by)
      if (made === undefined) tables.set(by, (made = groupTable(app, by)))
      field.say(made.show(expression))
      if (made.element.parentElement !== rows) rows.replaceChildren(made.element)
    }
    const field = search('Search', (next) => {
      expression = next
      draw()
    })
    const select = choice(
      'Rows',
      choices.map((one) => [one, PLURALS[one]] as const),
      (next) => app.open('functions', { by: next }),
    )
    draw()
    const lead =
      'Own figures are of blocks that the function allocates itself; the others include what it calls. Click a function to see its callers and callees.'
    return {
      element: el(
        'section',
        {},
        el('p', { class: 'lead' }, lead),
        choices.length > 1 ? el('div', { class: 'bar' }, select.element) : undefined,
        chosen,
        el('div', { class: 'sites' }, field.element, rows),
      ),
      search: field.input,
      show({ function: name, metric, by: wanted = 'function' }: Target) {
        by = choices.includes(wanted) ? wanted : 'function'
        select.set(by)
        draw()
        const n = name === undefined ? -1 : groupsOf(model, by).names.indexOf(name)
        chosen.replaceChildren(...(n < 0 ? [] : [sandwich(app, by, n, metric ?? 'allocatedBytes')]))
      },
    }
  },
}

const known = new WeakMap<FrameGroups, Map<TreeMetric, FunctionFigures>>()

/** The figures of all functions, files or modules. Made once. */
function figuresOf(model: Model, by: By, metric: TreeMetric): FunctionFigures {
  const groups = groupsOf(model, by)
  const all = known.get(groups) ?? new Map<TreeMetric, FunctionFigures>()
  known.set(groups, all)
  let figures = all.get(metric)
  if (figures === undefined)
    all.set(metric, (figures = functionFigures(model.tree(metric), groups.of, groups.names.length)))
  return figures
}

/** The table of functions, files or modules. */
interface GroupTable {
  readonly element: HTMLElement
  /** Shows the rows that match. @returns how many there are */
  show(expression: RegExp | undefined): string
}

function groupTable(app: App, by: By): GroupTable {
  const { model } = app
  const groups = groupsOf(model, by)
  const { names } = groups
  const columns = COLUMNS.filter(([metric]) => model.isKnown(metric))
  const figures = new Map(columns.map(([metric]) => [metric, figuresOf(model, by, metric)]))
  const used = names.map((_, n) => n).filter((n) => [...figures.values()].some(({ inclusive }) => inclusive[n] !== 0))
  const list = table<number>(
    [
      {
        title: by.replace(/^./, (letter) => letter.toUpperCase()),
        isText: true,
        key: (n) => names[n] ?? '',
        cell: (n) => groupName(groups, n),
        file: (n) => names[n] ?? '',
      },
      ...columns.flatMap(([metric, title]) => figureColumns(metric, title, figures.get(metric) as FunctionFigures)),
    ],
    {
      label: PLURALS[by],
      sortBy: 'Allocated',
      empty: `No ${by} matches. A trace without stacks and functions has none.`,
      open: (n) => app.open('functions', { function: names[n] ?? '', by }),
    },
  )
  let found = used
  let shownFor: RegExp | undefined | null = null
  return {
    element: list.element,
    show(expression) {
      if (expression !== shownFor) {
        shownFor = expression
        found = used.filter((n) => expression?.test(names[n] ?? '') ?? true)
        list.set(found, true)
      }
      const all = counted(used.length, by)
      return expression === undefined ? all : `${grouped(found.length)} of ${all}`
    },
  }
}

function groupName({ names, label, place: placeOf }: FrameGroups, n: number): HTMLElement {
  const place = placeOf(n)
  return el(
    'div',
    { class: 'site', title: names[n] ?? '' },
    el('div', {}, el('bdi', { class: 'name' }, label(n))),
    place === '' ? undefined : el('div', { class: 'callers' }, el('bdi', {}, place)),
  )
}

function figureColumns(metric: TreeMetric, title: string, { own, inclusive }: FunctionFigures): Column<number>[] {
  const amount = METRICS[metric].unit === 'bytes' ? bytesColumn<number> : countColumn<number>
  const column = (head: string, help: string, values: Float64Array) => amount(head, (n) => values[n] ?? 0, help)
  const what = METRICS[metric].title.toLowerCase()
  return [
    column(title, `${what}, with those of all functions that it calls`, inclusive),
    column(`${title}, own`, `${what} of the function itself`, own),
  ]
}

/** A function, a file or a module between its callers and its callees. */
function sandwich(app: App, by: By, n: number, first: TreeMetric): HTMLElement {
  const { model } = app
  const groups = groupsOf(model, by)
  const { names, label, place, of } = groups
  const name = names[n] ?? ''
  const box = el('div')
  const draw = (metric: TreeMetric) => {
    const tree = model.tree(metric)
    const { own, inclusive } = figuresOf(model, by, metric)
    const { callers, callees } = neighboursOf(tree, of, n)
    const whole = inclusive[n] ?? 0
    const amount = (value: number) => (METRICS[metric].unit === 'bytes' ? bytes(value) : grouped(value))
    const side = (title: string, rows: typeof callers, none: string) => {
      const list = table<(typeof callers)[number]>(
        [
          {
            title,
            isText: true,
            cell: (row) => (row.name < 0 ? none : groupName(groups, row.name)),
            file: (row) => names[row.name] ?? none,
          },
          { title: METRICS[metric].title, key: ({ value }) => value, cell: ({ value }) => amount(value) },
          {
            title: 'Share',
            help: `of the figure of the ${by}`,
            key: ({ value }) => value,
            cell: ({ value }) => share(value, whole),
          },
        ],
        {
          label: title,
          empty: 'There is none.',
          step: 20,
          open: (row) => {
            if (row.name >= 0) app.open('functions', { function: names[row.name] ?? '', metric, by })
          },
        },
      )
      list.set(rows)
      return el('div', {}, list.element)
    }
    box.replaceChildren(
      el(
        'p',
        { class: 'explain' },
        `${METRICS[metric].title}: ${amount(whole)}, ${share(whole, tree.totals[0] ?? 0)} of all; of its own ${amount(own[n] ?? 0)}.`,
      ),
      el(
        'div',
        { class: 'columns' },
        side('Callers', callers, '(none: the outermost frame)'),
        side('Callees', callees, `(the ${by} itself)`),
      ),
    )
  }
  const metrics = choice(
    'Figure',
    Object.entries(METRICS)
      .filter(([metric]) => model.isKnown(metric))
      .map(([metric, { title }]) => [metric as TreeMetric, title] as const),
    draw,
  )
  metrics.set(first)
  draw(first)
  const escaped = literal(name)
  // The flame graph does not show modules.
  const pattern = by === 'module' ? undefined : by === 'file' ? `\\(${escaped}(:\\d+)?\\)$` : `^${escaped}( \\(|$)`
  return block(
    label(n),
    place(n),
    el(
      'div',
      { class: 'bar' },
      metrics.element,
      pattern && button('Focus in the flame graph', () => app.open('flame', { focus: pattern })),
      pattern && button('Hide in the flame graph', () => app.open('flame', { hide: pattern })),
      button('Close', () => app.open('functions', { by })),
    ),
    box,
  )
}
