import { button, el, isForBrowser, type Child } from './dom.js'
import { counted, grouped } from './format.js'
import { csv, fileName, fileNumber } from './csv.js'
import { copy, save } from './save.js'
import { later } from './later.js'
import { action } from './take.js'

/** A column of a table. */
export interface Column<Row> {
  readonly title: string
  /** A longer description of the column. */
  readonly help?: string | undefined
  /** The sort key of rows; a column without it cannot be sorted. */
  readonly key?: (row: Row) => number | string
  /** The contents of a cell: text, or an element. */
  readonly cell: (row: Row) => Child
  /** The exact value, for the pointer. */
  readonly exact?: (row: Row) => string | undefined
  /** Text is on the left, and sorted upwards at first. */
  readonly isText?: boolean
  /** The cells are pictures, which files do not have. */
  readonly isPicture?: boolean
  /** The unit of the numbers in files; bytes, if there are exact values. */
  readonly unit?: string
  /** The text of the cell in files; the exact value, or otherwise the cell's text, if absent. */
  readonly file?: (row: Row) => string
}

/** A table, and the operations on it. */
export interface Table<Row> {
  readonly element: HTMLElement
  /** Shows other rows. @param isSame whether rows that were shown have the same cells as before */
  set(rows: readonly Row[], isSame?: boolean): void
  /** Sorts by a column. */
  sort(title: string, isDown?: boolean): void
}

/** Options of a table. */
export interface TableOptions<Row> {
  /** For screen readers. */
  readonly label: string
  /** The column by which it is initially sorted; without it, rows keep their order. */
  readonly sortBy?: string
  /** The action of a click on a row, or of Enter. */
  readonly open?: (row: Row) => void
  /** Whether a row has that action; all have it if absent. */
  readonly opens?: (row: Row) => boolean
  /** The text shown when there are no rows. */
  readonly empty: string
  /** The number of rows shown initially, and added at a time; 100 if absent. */
  readonly step?: number
  /** The rows of files, if they differ from the table's. */
  readonly inFiles?: () => readonly Row[]
}

/** The height of a row with callers, and of what is above the rows of a table, as part of a window. */
const ROW_HEIGHT = 46
const HEAD_PART = 0.25
/** The number of rows that follow at a time when the browser has time. */
const PIECE = 30

/** The event that has a table begin with few rows again. */
const AGAIN = 'heapflow-again'

/** Has the tables in an element, which is shown next, begin with the rows that a reader sees; the others follow. */
export function beginAgain(root: Element): void {
  for (const one of root.querySelectorAll('.table')) one.dispatchEvent(new Event(AGAIN))
}

/** The number of rows that are there at once: those that a reader sees. */
function rowsAtOnce(): number {
  return Math.ceil(((1 - HEAD_PART) * innerHeight) / ROW_HEIGHT)
}

/**
 * A table that is sorted by a click on a header cell. It shows some rows, and more on demand. The arrow keys, Home and
 * End move between rows.
 */
export function table<Row>(columns: readonly Column<Row>[], options: TableOptions<Row>): Table<Row> {
  const { label, open, opens, empty, step: rowStep = 100 } = options
  let sorted = columns.find(({ title }) => title === options.sortBy)
  let isDown = sorted?.isText !== true
  let rows: readonly Row[] = []
  let shown: readonly Row[] = []
  let limit = rowStep
  /** The rows that were shown: sorting puts them in another order, which is much faster than to make them again. */
  const lines = new Map<Row, HTMLTableRowElement>()
  const heads = columns.map((column) => head(column))
  const body = el('tbody', { on: { keydown: move } })
  const grid = el('table', { attributes: { 'aria-label': label } }, el('thead', {}, el('tr', {}, ...heads)), body)
  const rest = later(addRows)
  const more = el('div', { class: 'more' })
  const taken = el(
    'div',
    { class: 'take' },
    action('CSV', `save the table as CSV: ${label}`, () =>
      save(
        fileName(label, 'csv'),
        new Blob(['\ufeff', csv(fileRows(options.inFiles?.() ?? shown))], { type: 'text/csv;charset=utf-8' }),
      ),
    ),
  )
  const element = el(
    'div',
    { class: 'table' },
    el(
      'div',
      { class: 'scroll', attributes: { tabindex: '0', role: 'region', 'aria-label': `table: ${label}` } },
      grid,
    ),
    more,
    taken,
  )

  element.addEventListener(AGAIN, () => {
    if (body.rows.length <= rowsAtOnce()) return
    body.replaceChildren()
    addRows()
  })

  /** The header and some rows, as text for files. */
  function fileRows(some: readonly Row[]): string[][] {
    const named = columns.filter(({ isPicture }) => isPicture !== true)
    const heads = named.map(({ title, exact, unit = exact && 'bytes' }) =>
      unit === undefined ? title : `${title} (${unit})`,
    )
    return [heads, ...some.map((row) => named.map((column) => fileText(column, row)))]
  }

  function head(column: Column<Row>): HTMLTableCellElement {
    const { title, help, key, isText } = column
    // On paper, a header is printed again on each page, but the buttons in it are not: main.css.
    const attributes = { scope: 'col', ...(key !== undefined && { 'data-title': title }) }
    const properties = { class: isText === true ? 'text' : 'number', attributes }
    if (key === undefined) return el('th', help === undefined ? properties : { ...properties, title: help }, title)
    const sort = button(title, () => by(column, sorted === column ? !isDown : isText !== true))
    return el('th', { ...properties, title: help ?? `sort by ${title}` }, sort)
  }

  function by(column: Column<Row> | undefined, down: boolean): void {
    sorted = column
    isDown = down
    order()
  }

  function order(): void {
    columns.forEach((column, c) => {
      const state = column === sorted ? (isDown ? 'descending' : 'ascending') : 'none'
      if (column.key !== undefined) heads[c].setAttribute('aria-sort', state)
    })
    const key = sorted?.key
    shown = key === undefined ? rows : sortedBy(rows, key, isDown ? -1 : 1)
    fill()
  }

  function fill(): void {
    const count = Math.min(limit, shown.length)
    body.replaceChildren()
    addRows()
    if (count === 0)
      body.append(el('tr', {}, el('td', { class: 'empty', attributes: { colspan: String(columns.length) } }, empty)))
    const left = shown.length - count
    more.replaceChildren()
    if (left > 0)
      more.append(
        el('span', {}, `${grouped(count)} of ${counted(shown.length, 'row')} `),
        button(`Show ${grouped(Math.min(rowStep, left))} more`, () => widen(limit + rowStep)),
        button('Show all', () => widen(Infinity)),
      )
  }

  /** Adds some of the rows that are missing, or all of them. */
  function addRows(isAll = false): void {
    const from = shown.length === 0 ? 0 : body.rows.length
    const to = Math.min(limit, shown.length, isAll ? Infinity : from + (from === 0 ? rowsAtOnce() : PIECE))
    body.append(...shown.slice(from, to).map((row, n) => line(row, from + n)))
    const isWhole = to >= Math.min(limit, shown.length)
    grid.setAttribute('aria-busy', String(!isWhole))
    if (isWhole) rest.cancel()
    else rest.ask()
  }

  function widen(to: number): void {
    const from = limit
    limit = to
    fill()
    addRows(true)
    ;(body.rows[from] as HTMLElement | undefined)?.focus()
  }

  /** @param n the position of the row: the first one is reached by Tab */
  function line(row: Row, n: number): HTMLTableRowElement {
    let made = lines.get(row)
    if (made === undefined) lines.set(row, (made = newLine(row)))
    if (open !== undefined) made.tabIndex = n === 0 ? 0 : -1
    return made
  }

  function newLine(row: Row): HTMLTableRowElement {
    const cells = columns.map(({ cell, exact, isText }) => {
      const title = exact?.(row)
      const name = isText === true ? 'text' : 'number'
      return el('td', title === undefined ? { class: name } : { class: name, title }, cell(row))
    })
    if (open === undefined || opens?.(row) === false) return el('tr', {}, ...cells)
    const on = {
      click: () => open(row),
      keydown: (event: KeyboardEvent) => {
        if (event.key === 'Enter' && event.target === event.currentTarget) open(row)
      },
    }
    return el('tr', { class: 'active', on }, ...cells)
  }

  function move(event: KeyboardEvent): void {
    if (isForBrowser(event)) return
    const at = (event.target as HTMLElement).closest('tr')
    const row = at === null ? undefined : shown[at.sectionRowIndex]
    if (event.key === 'c' && row !== undefined) {
      void copy(
        fileRows([row])
          .map((cells) => cells.join('\t'))
          .join('\n'),
      )
      event.preventDefault()
    }
    const step = STEPS[event.key]
    if (at === null || step === undefined || open === undefined) return
    if (at.sectionRowIndex + step >= body.rows.length) addRows(true)
    const index = Math.max(0, Math.min(body.rows.length - 1, at.sectionRowIndex + step))
    const to = body.rows[index]
    event.preventDefault()
    at.tabIndex = -1
    to.tabIndex = 0
    to.focus()
  }

  return {
    element,
    set(next, isSame = false) {
      rows = next
      limit = rowStep
      if (!isSame) lines.clear()
      order()
    },
    sort(title, down) {
      const column = columns.find((one) => one.title === title)
      by(column, down ?? column?.isText !== true)
    },
  }
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 20,
  PageUp: -20,
  Home: -Infinity,
  End: Infinity,
}

/** A cell in a file: numbers without separators and units where they are known. */
function fileText<Row>({ file, exact, key, isText, cell }: Column<Row>, row: Row): string {
  if (file !== undefined) return file(row)
  const whole = exact?.(row)
  if (whole !== undefined) return fileNumber(whole)
  const shown = cell(row)
  const text = typeof shown === 'string' ? shown : (shown?.textContent ?? '')
  if (isText === true || text.endsWith('%')) return text
  const number = fileNumber(text)
  const value = key?.(row)
  return number === text && typeof value === 'number' && text !== '–' ? String(value) : number
}

function sortedBy<Row>(rows: readonly Row[], key: (row: Row) => number | string, sign: number): Row[] {
  return rows
    .map((row) => ({ row, key: key(row) }))
    .toSorted((a, b) => compare(a.key, b.key) * sign)
    .map(({ row }) => row)
}

function compare(a: number | string, b: number | string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
