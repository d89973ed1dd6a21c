import { plural } from '../../event/message-text.js'
import { escaped, shortened } from './html.js'

/** The number of rows of each view. */
export const ROWS = 20

/** A value of a table: numbers beyond 2^53 are text. */
export type Cell = number | string | null | undefined
/** A column of a table. */
export type Column = readonly [title: string, cells: readonly Cell[]]

/** Names and values. */
export function list(title: string, rows: readonly (readonly [string, Cell])[]): string {
  const body = rows.map(([name, value]) => `<tr><th scope="row">${escaped(name)}</th>${cell(value)}</tr>\n`)
  return `<h2>${escaped(title)}</h2>\n<table>\n${body.join('')}</table>\n`
}

/** A table with a header row; nothing if it has no rows. @param most the maximum number of rows */
export function table(title: string, columns: readonly Column[], most = ROWS): string {
  const length = columns[0]?.[1].length ?? 0
  if (length === 0) return ''
  const rows = Array.from({ length: Math.min(length, most) }, (_, row) => {
    return `<tr>${columns.map(([, cells]) => cell(cells[row])).join('')}</tr>\n`
  })
  const more = length > most ? `<p>${plural(length - most, 'more row')}.</p>\n` : ''
  const head = columns.map(([name]) => `<th scope="col">${escaped(name)}</th>`).join('')
  return `<h2>${escaped(title)}</h2>\n<table>\n<thead><tr>${head}</tr></thead>\n${rows.join('')}</table>\n${more}`
}

/** Names may be written from right to left, or change the direction of the text after them. */
function cell(value: Cell): string {
  if (typeof value === 'number') return `<td>${value}</td>`
  const text = escaped(shortened(value ?? '', 1000))
  return /^-?\d*$/.test(text) ? `<td>${text}</td>` : `<td><bdi>${text}</bdi></td>`
}
