import type { TreeMetric } from '../../lib/transforms/report/result.js'
import type { App, Mounted, Target, View } from '../app.js'
import { functionFigures, neighboursOf, type FunctionFigures } from '../flame/functions.js'
import { METRICS, type Model } from '../model.js'
import { block } from '../parts/bars.js'
import { button, choice, el } from '../parts/dom.js'
import { bytes, counted, exactBytes, grouped, share } from '../parts/format.js'
import { table, type Column } from '../parts/table.js'
import { search } from '../sites/search.js'

/** The figures of the table: the column's title, and whether it is also inclusive. */
const COLUMNS: readonly (readonly [metric: TreeMetric, title: string])[] = [
  ['allocatedBytes', 'Allocated'],
  ['allocatedBlocks', 'Allocations'],
  ['peakBytes', 'At peak'],
  ['endBytes', 'Leaked'],
  ['temporaryBlocks', 'Temporary'],
]

/** The functions of a report, each once, whatever its lines. */
interface Functions {
  readonly names: readonly string[]
  readonly places: readonly string[]
  readonly of: (frame: number) => number
}

const known = new WeakMap<Model, Functions>()

function functionsOf(model: Model): Functions {
  let found = known.get(model)
  if (found === undefined) {
    const ids = new Map<string, number>()
    const places: string[] = []
    const numbers = model.data.frames.map(({ name, file, line }) => {
      let id = ids.get(name)
      if (id === undefined) {
        id = ids.size
        ids.set(name, id)
        places.push(file === undefined || name.startsWith(file) ? '' : line === undefined ? file : `${file}:${line}`)
      }
      return id
    })
    found = { names: [...ids.keys()], places, of: (frame) => numbers[frame] ?? 0 }
    known.set(model, found)
  }
  return found
}

/** Every function with its own and its inclusive figures; one of them with its callers and callees. */
export const functions: View = {
  title: 'Functions',
  mount(app): Mounted {
    const { model } = app
    const { names, places, of } = functionsOf(model)
    const columns = COLUMNS.filter(([metric]) => model.isKnown(metric))
    const figures = new Map(columns.map(([metric]) => [metric, functionFigures(model.tree(metric), of, names.length)]))
    const used = names.map((_, n) => n).filter((n) => [...figures.values()].some(({ inclusive }) => inclusive[n] !== 0))
    let expression: RegExp | undefined
    const list = table<number>(
      [
        {
          title: 'Function',
          isText: true,
          key: (n) => names[n] ?? '',
          cell: (n) => functionName(names[n] ?? '', places[n] ?? ''),
        },
        ...columns.flatMap(([metric, title]) => figureColumns(metric, title, figures.get(metric) as FunctionFigures)),
      ],
      {
        label: 'functions',
        sortBy: 'Allocated',
        empty: 'No function matches. A trace without stacks and functions has none.',
        open: (n) => app.open('functions', { function: names[n] ?? '' }),
      },
    )
    const show = () => {
      const found = used.filter((n) => expression?.test(names[n] ?? '') ?? true)
      list.set(found)
      field.say(
        expression === undefined
          ? counted(used.length, 'function')
          : `${grouped(found.length)} of ${counted(used.length, 'function')}`,
      )
    }
    const field = search('Search', (next) => {
      expression = next
      show()
    })
    show()
    const chosen = el('div', { attributes: { 'aria-live': 'polite' } })
    const lead =
      'Own figures are of blocks that the function allocates itself; the others include what it calls. Click a function to see its callers and callees.'
    return {
      element: el(
        'section',
        {},
        el('p', { class: 'lead' }, lead),
        chosen,
        el('div', { class: 'sites' }, field.element, list.element),
      ),
      search: field.input,
      show({ function: name, metric }: Target) {
        const n = name === undefined ? -1 : names.indexOf(name)
        chosen.replaceChildren(...(n < 0 ? [] : [sandwich(app, n, metric ?? 'allocatedBytes')]))
      },
    }
  },
}

function functionName(name: string, place: string): HTMLElement {
  return el(
    'div',
    { class: 'site', title: name },
    el('div', {}, el('bdi', { class: 'name' }, name)),
    place === '' ? undefined : el('div', { class: 'callers' }, el('bdi', {}, place)),
  )
}

function figureColumns(metric: TreeMetric, title: string, { own, inclusive }: FunctionFigures): Column<number>[] {
  const isBytes = METRICS[metric].unit === 'bytes'
  const column = (head: string, help: string, values: Float64Array): Column<number> => ({
    title: head,
    help,
    key: (n) => values[n] ?? 0,
    cell: (n) => (isBytes ? bytes(values[n] ?? 0) : grouped(values[n] ?? 0)),
    ...(isBytes && { exact: (n: number) => exactBytes(values[n] ?? 0) }),
  })
  const what = METRICS[metric].title.toLowerCase()
  return [
    column(title, `${what}, with those of all functions that it calls`, inclusive),
    column(`${title}, own`, `${what} of the function itself`, own),
  ]
}

/** A function between its callers and its callees. */
function sandwich(app: App, n: number, first: TreeMetric): HTMLElement {
  const { model } = app
  const { names, places, of } = functionsOf(model)
  const name = names[n] ?? ''
  const box = el('div')
  const draw = (metric: TreeMetric) => {
    const tree = model.tree(metric)
    const { own, inclusive } = functionFigures(tree, of, names.length)
    const { callers, callees } = neighboursOf(tree, of, n)
    const whole = inclusive[n] ?? 0
    const amount = (value: number) => (METRICS[metric].unit === 'bytes' ? bytes(value) : grouped(value))
    const side = (title: string, rows: typeof callers, none: string) => {
      const list = table<(typeof callers)[number]>(
        [
          {
            title,
            isText: true,
            cell: (row) => (row.name < 0 ? none : functionName(names[row.name] ?? '', places[row.name] ?? '')),
          },
          { title: METRICS[metric].title, key: ({ value }) => value, cell: ({ value }) => amount(value) },
          {
            title: 'Share',
            help: 'of the figure of the function',
            key: ({ value }) => value,
            cell: ({ value }) => share(value, whole),
          },
        ],
        {
          label: title,
          empty: 'There is none.',
          step: 20,
          open: (row) => {
            if (row.name >= 0) app.open('functions', { function: names[row.name] ?? '', metric })
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
        side('Callees', callees, '(the function itself)'),
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
  const exactly = `^${name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}( \\(|$)`
  return block(
    name,
    places[n] ?? '',
    el(
      'div',
      { class: 'bar' },
      metrics.element,
      button('Focus in the flame graph', () => app.open('flame', { focus: exactly })),
      button('Hide in the flame graph', () => app.open('flame', { hide: exactly })),
      button('Close', () => app.open('functions')),
    ),
    box,
  )
}
