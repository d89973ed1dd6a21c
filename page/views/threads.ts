import type { Integer, ReportData } from '../../lib/transforms/report/result.js'
import type { App, View } from '../app.js'
import { block, none } from '../parts/bars.js'
import { bytesColumn, countColumn } from '../parts/columns.js'
import { button, choice, el } from '../parts/dom.js'
import { bytes, counted, exactBytes, grouped, share, short } from '../parts/format.js'
import { table } from '../parts/table.js'
import { siteTable } from '../sites/table.js'
import type { Criterion } from '../worker/messages.js'

/** Whether any event names its thread. */
export function hasThreads({ threads: { thread } }: ReportData): boolean {
  return thread.some((one) => one !== null)
}

/** The actions of each thread, and the frees of blocks between threads. */
export const threads: View = {
  title: 'Threads',
  count: ({ data }) => (data.summary.threadCount > 1 ? data.summary.threadCount : 0),
  mount(app) {
    const { threads: t, summary, sites } = app.model.data
    if (t.name.length === 0)
      return { element: el('section', {}, none('Nothing in this trace allocates or frees a block.')) }
    const foreign = t.foreignFrees.reduce((sum, n) => sum + n, 0)
    const lead = `Freed by another thread than the one that allocated it: ${grouped(foreign)} of ${counted(summary.freed.blocks, 'freed block')} (${share(foreign, summary.freed.blocks)}).`
    const isNamed = hasThreads(app.model.data)
    const list = siteTable(app, {
      columns: ['foreignFrees', 'share', 'allocatedBlocks', 'allocatedBytes'],
      by: 'foreignFrees',
      whole: foreign,
      only: (site) => (sites.foreignFrees[site] ?? 0) > 0,
      empty: 'No site matches.',
      step: 25,
    })
    return {
      element: el(
        'section',
        {},
        el('p', { class: 'lead' }, isNamed ? lead : 'The events of this trace do not name a thread.'),
        matrixBlock(app),
        block(
          'Threads',
          `The threads with most events.${app.filter === undefined ? '' : clicks(app)}`,
          threadTable(app),
        ),
        foreign === 0
          ? undefined
          : block(
              'Sites',
              'Where the blocks were allocated that another thread freed.',
              button('Show in the flame graph', () => app.open('flame', { metric: 'foreignFrees' })),
              list.element,
            ),
      ),
      ...(foreign > 0 && { search: list.input }),
    }
  },
}

/** What a click on a row does. */
function clicks(app: App): string {
  const isEach = app.model.data.threads.name.every((_, row) => criteriaOf(app, row).length > 0)
  return ` A click on one filters the trace${isEach ? '' : ', except all others: the report does not list them'}.`
}

function nameOf(app: App, row: number): string {
  return app.model.data.threads.name[row] || 'all others'
}

function threadTable(app: App): HTMLElement {
  const { threads: t } = app.model.data
  const count = (title: string, values: readonly number[]) => countColumn<number>(title, (n) => values[n] ?? 0)
  const size = (title: string, values: readonly Integer[]) => bytesColumn<number>(title, (n) => values[n] ?? 0)
  const list = table<number>(
    [
      { title: 'Thread', isText: true, key: (n) => nameOf(app, n), cell: (n) => nameOf(app, n) },
      count('Events', t.events),
      count('Allocations', t.allocatedBlocks),
      size('Allocated', t.allocatedBytes),
      size('At peak', t.peakBytes),
      size('At end', t.endBytes),
      count('Frees', t.frees),
      count("Of others' blocks", t.foreignFrees),
    ],
    {
      label: 'threads',
      sortBy: 'Events',
      empty: 'There is no thread.',
      ...(app.filter !== undefined && {
        open: (n: number) => app.filter?.add(criteriaOf(app, n)),
        opens: (n: number) => criteriaOf(app, n).length > 0,
      }),
    },
  )
  list.set([...t.name.keys()])
  return list.element
}

/** The criteria that a row is; none for the row of all others. */
function criteriaOf(app: App, row: number): Criterion[] {
  const { thread, process } = app.model.data.threads
  const given = (flag: string, value: Integer | null | undefined): Criterion[] =>
    value === null || value === undefined ? [] : [[flag, String(value)]]
  // A process that runs another program keeps its thread.
  const isFirst = thread[row] !== null && app.model.data.summary.processCount > 0
  return [...given('thread', thread[row]), ...given('process', process[row] ?? (isFirst ? 'none' : null))]
}

function matrixBlock(app: App): HTMLElement {
  const { matrix, name } = app.model.data.threads
  const explanation =
    'Blocks by the thread that allocated them (rows) and the one that freed them (columns). Off the diagonal, ' +
    'blocks change hands.'
  if (matrix.from.length === 0) return block('Who frees what', 'No block was freed.')
  const box = el('div', {
    class: 'scroll',
    attributes: { tabindex: '0', role: 'region', 'aria-label': 'who frees what: arrow keys scroll' },
  })
  const show = (unit: 'blocks' | 'bytes') => {
    const values = new Map(matrix.from.map((from, n) => [from * name.length + matrix.to[n], matrix[unit][n] ?? 0]))
    box.replaceChildren(matrixTable(app, unit, values))
  }
  show('blocks')
  const units = choice(
    'Count',
    [
      ['blocks', 'blocks'],
      ['bytes', 'bytes'],
    ],
    show,
  )
  return block('Who frees what', explanation, el('div', { class: 'bar' }, units.element), box)
}

function matrixTable(app: App, unit: 'blocks' | 'bytes', values: ReadonlyMap<number, Integer>): HTMLTableElement {
  const { name } = app.model.data.threads
  const largest = Math.max(1, ...[...values.values()].map(Number))
  const text = unit === 'bytes' ? bytes : short
  const exact = (value: Integer) => (unit === 'bytes' ? exactBytes(value) : counted(value, 'block'))
  const used = (side: 'from' | 'to') => [...new Set(app.model.data.threads.matrix[side])].toSorted((a, b) => a - b)
  const columns = used('to')
  const rows = used('from').map((from) =>
    el(
      'tr',
      {},
      el('th', { attributes: { scope: 'row' } }, nameOf(app, from)),
      ...columns.map((to) => {
        const value = values.get(from * name.length + to)
        if (value === undefined) return el('td', { class: 'zero', attributes: { 'aria-label': 'none' } }, '·')
        const cell = el(
          'td',
          {
            class: from === to ? 'own' : 'foreign',
            title: `${nameOf(app, from)} → ${nameOf(app, to)}: ${exact(value)}`,
          },
          text(value),
        )
        cell.style.setProperty(
          '--part',
          `${(8 + 72 * (Math.log(Number(value) + 1) / Math.log(largest + 1))).toFixed(0)}%`,
        )
        return cell
      }),
    ),
  )
  return el(
    'table',
    { class: 'matrix', attributes: { 'aria-label': `${unit} by allocating and freeing thread` } },
    el(
      'thead',
      {},
      el(
        'tr',
        {},
        el('th', {}, 'allocated by ↓ freed by →'),
        ...columns.map((to) => el('th', { attributes: { scope: 'col' } }, nameOf(app, to))),
      ),
    ),
    el('tbody', {}, ...rows),
  )
}
