import type { DuckDBResult, DuckDBValue } from '@duckdb/node-api'
import { unescapeText } from '../../formats/arrow/escape.js'
import { visible } from '../report/columns.js'
import { ColumnCells } from './cells.js'

/** The formats of results that are text. */
type ResultFormat = 'table' | 'csv' | 'ndjson'

/** A table is as wide as its first rows need: later rows may be wider. */
const SAMPLE_ROWS = 1000

/** The result of a query as text, in pieces. @param isFull whether a table has long cells whole */
export function resultText(result: DuckDBResult, format: ResultFormat, isFull: boolean): AsyncGenerator<string> {
  const names = result.deduplicatedColumnNames()
  switch (format) {
    case 'csv':
      return lines(result, names.map(csvField).join(','), (row) =>
        row.map((value) => (value === null ? '' : csvField(unescapeText(cell(value, json))))).join(','),
      )
    case 'ndjson':
      return lines(
        result,
        undefined,
        (row) => `{${row.map((value, c) => `${JSON.stringify(names[c])}:${json(value)}`).join(',')}}`,
      )
    case 'table':
      return table(result, names, isFull)
  }
}

async function* lines(
  result: DuckDBResult,
  head: string | undefined,
  lineOf: (row: DuckDBValue[]) => string,
): AsyncGenerator<string> {
  if (head !== undefined) yield `${head}\n`
  for await (const rows of result.yieldRows()) yield rows.map((row) => `${lineOf(row)}\n`).join('')
}

async function* table(result: DuckDBResult, names: readonly string[], isFull: boolean): AsyncGenerator<string> {
  const sample: string[][] = []
  const isNumber = names.map(() => true)
  const columns = names.map(() => new ColumnCells(isFull))
  let widths: number[] | undefined
  const line = (cells: readonly string[]) =>
    cells
      .map((text, c) => (isNumber[c] === true ? text.padStart(widths?.[c] ?? 0) : text.padEnd(widths?.[c] ?? 0)))
      .join('  ')
      .trimEnd()
  const begin = () => {
    widths = names.map((name, c) =>
      Math.max(...[visible(name), ...sample.map((cells) => cells[c])].map(({ length }) => length)),
    )
    const rule = widths.map((width) => '-'.repeat(width)).join('  ')
    return [line(names.map(visible)), rule, ...sample.map(line)].map((text) => `${text}\n`).join('')
  }
  for await (const rows of result.yieldRows()) {
    const shown = columns.map((column, c) =>
      column.show(rows.map((row) => visible(unescapeText(cell(row[c] ?? null, shownJson))))),
    )
    const cells = rows.map((_, r) => shown.map((texts) => texts[r]))
    if (widths === undefined) {
      for (const row of rows)
        row.forEach((value, c) => {
          if (value !== null && typeof value !== 'bigint' && typeof value !== 'number') isNumber[c] = false
        })
      sample.push(...cells)
      if (sample.length >= SAMPLE_ROWS) yield begin()
    } else {
      yield cells.map((row) => `${line(row)}\n`).join('')
    }
  }
  if (widths === undefined) yield begin()
}

/** A value as text, a nested one as JSON; null is empty. Names in it are still escaped, except in JSON. */
function cell(value: DuckDBValue, nested: (value: DuckDBValue) => string): string {
  if (value === null) return ''
  return typeof value === 'object' && isNested(value) ? nested(value) : String(value)
}

/** JSON for a table, in which all names are shown in the same way. */
function shownJson(value: DuckDBValue): string {
  return json(value, (text) => text)
}

/** A field of CSV, in quotes if it needs them: an empty text does, because a field without a value is empty. */
function csvField(text: string): string {
  return /^$|[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

type Nested = { readonly items: readonly DuckDBValue[] } | { readonly entries: object }

function isNested(value: object): value is Nested {
  return 'items' in value || 'entries' in value
}

/** A value as JSON: integers with all their digits. @param name converts a text */
function json(value: DuckDBValue, name = unescapeText): string {
  if (value === null) return 'null'
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null'
  if (typeof value === 'string') return JSON.stringify(name(value))
  if ('scale' in value && 'width' in value) return String(value)
  if (!isNested(value)) return JSON.stringify(name(String(value)))
  if ('items' in value) return `[${value.items.map((item) => json(item, name)).join(',')}]`
  const { entries } = value
  if (Array.isArray(entries)) {
    const pairs = entries as { key: DuckDBValue; value: DuckDBValue }[]
    return `[${pairs.map(({ key, value: item }) => `[${json(key, name)},${json(item, name)}]`).join(',')}]`
  }
  return `{${Object.entries(entries as Record<string, DuckDBValue>)
    .map(([key, item]) => `${JSON.stringify(key)}:${json(item, name)}`)
    .join(',')}}`
}
