import { escapeOf, grouped } from '../../event/message-text.js'

export { grouped, rounded } from '../../event/message-text.js'

/** A title and rows of cells; the first row is the header row. */
export interface Table {
  readonly title: string
  readonly heads: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** A column of a table: its header, and the cell of a row. Numbers are grouped. False where a table lacks it. */
export type Column<Row> = readonly [head: string, cell: (row: Row) => string | number | bigint] | false

export function tableOf<Row>(title: string, rows: readonly Row[], columns: readonly Column<Row>[]): Table {
  const present = columns.filter((column) => column !== false)
  const text = (cell: string | number | bigint) => (typeof cell === 'string' ? cell : grouped(cell))
  const cells = (row: Row) => present.map(([, cell]) => text(cell(row)))
  return { title, heads: present.map(([head]) => head), rows: rows.map(cells) }
}

/** Bars are left out where there is room for fewer marks. */
const LEAST_BAR = 8

/**
 * A table as lines of a number of columns: numbers right-aligned, columns whose header begins with a space
 * left-aligned. Where that is too wide, headers take two lines. What still does not fit is below: each row has a second
 * line then, or more. Bars, in a last column without a header, become shorter instead.
 */
export function tableLines(table: Table, columns: number): string[] {
  const heads = headRows(table, columns)
  return [...wrapped(table.title, columns), ...rowLines(heads, table.rows, columns).flat().filter(Boolean)]
}

/** The headers as rows of cells: one, or two if the headers make the table too wide. */
function headRows({ heads, rows }: Table, columns: number): string[][] {
  const widths = heads.map((_, c) => longest(rows.map((cells) => cells[c].trim())))
  if (heads.reduce((sum, head, c) => sum + 2 + Math.max(head.trim().length, widths[c]), 0) <= columns)
    return [[...heads]]
  const broken = heads.map((head, c) => (head.trim().length > widths[c] ? inTwo(head) : (['', head] as const)))
  return [broken.map(([upper]) => upper), broken.map(([, lower]) => lower)]
}

/** A header in two lines, of which the longer one is as short as possible; the lower one marks columns of text. */
function inTwo(head: string): readonly [upper: string, lower: string] {
  const words = head.trim().match(/[^ -]+(-| |$)/g) ?? ['']
  const parts = words.map((_, w) => [words.slice(0, w).join('').trim(), words.slice(w).join('')] as const)
  const [upper, lower] = parts.reduce((best, part) => (longest(part) < longest(best) ? part : best))
  return [upper, head.startsWith(' ') ? ` ${lower}` : lower]
}

/** The lines of each row, those of headers first. All rows have as many. */
function rowLines(headers: readonly (readonly string[])[], rows: Table['rows'], columns: number): string[][] {
  const heads = headers[headers.length - 1]
  const all = [...headers, ...rows]
  const widths = heads.map((_, c) => longest(all.map((cells) => cells[c].trim())))
  const isText = heads.map((head) => head.startsWith(' '))
  const hasBars = heads.length > 1 && heads.at(-1) === ' '
  const last = heads.length - 1
  const room = columns - widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 2)
  const isShort = hasBars && room < widths[last]
  // The first column of each line, and the end.
  const starts = [0]
  let used = 0
  for (const [c, width] of widths.entries()) {
    if (isShort && c === last) break
    if (c > 0 && used + width + 2 > columns) {
      starts.push(c)
      used = INDENT.length
    }
    used += width + 2
  }
  const end = isShort && room < LEAST_BAR ? last : heads.length
  const pad = (cell: string, c: number) => {
    if (isShort && c === last) return cell.slice(0, Math.ceil((cell.trim().length * room) / widths[c]))
    return isText[c] === true ? cell.trim().padEnd(widths[c]) : cell.padStart(widths[c])
  }
  return all.map((cells) => {
    const padded = cells.map(pad)
    return starts.map((start, i) =>
      `${i === 0 ? '' : INDENT}  ${padded.slice(start, starts[i + 1] ?? end).join('  ')}`.trimEnd(),
    )
  })
}

/** What follows below a row, or a line. */
const INDENT = ' '.repeat(4)

/** Fewer columns are not enough for a label beside figures. */
const LEAST_LABEL = 32

/**
 * A table whose last column has labels that fit a number of columns. If the figures leave too few columns, each label
 * is on a line of its own below its figures, unless all labels are short.
 * @param heads the headers of the figures
 * @param label the header of the labels
 * @param labels makes the labels for a width
 * @param below makes the lines below a row, for a width
 */
export function labelledLines(
  { title, heads, rows }: Table,
  label: string,
  columns: number,
  labels: (width: number) => readonly string[],
  below: (row: number, width: number) => readonly string[] = () => [],
): string[] {
  const headers = headRows({ title, heads, rows }, columns)
  const figures = rowLines(headers, rows, columns)
  const free = figures[0].length > 1 ? 0 : columns - longest(figures.flat()) - 2
  const indent = ' '.repeat(6)
  const names = labels(free >= LEAST_LABEL ? free : columns - indent.length)
  const under = (row: number) => below(row, columns - indent.length - 2).map((line) => `${indent}  ${line}`)
  const isBeside = free >= LEAST_LABEL || longest([label, ...names]) <= free
  const labelOf = (line: number) =>
    line < headers.length - 1 ? '' : line < headers.length ? label : names[line - headers.length]
  const lines = isBeside
    ? rowLines(
        headers.map((cells, h) => [...cells, ` ${labelOf(h)}`]),
        rows.map((cells, i) => [...cells, names[i]]),
        Infinity,
      )
    : figures.map((row, i) => [...row, `${indent}${labelOf(i)}`.trimEnd()].filter(Boolean))
  return [
    ...wrapped(title, columns),
    ...lines.flatMap((row, i) => (i < headers.length ? row : [...row, ...under(i - headers.length)])),
  ]
}

/** The length of the longest of some texts, of which there may be too many for `Math.max` at once. */
function longest(texts: readonly string[]): number {
  return texts.reduce((most, { length }) => Math.max(most, length), 0)
}

/** Names and values in two columns, under a title. */
export function pairLines(title: string, pairs: readonly (readonly [string, string])[], columns: number): string[] {
  const width = longest(pairs.map(([name]) => name))
  const indent = ' '.repeat(width + 4)
  return [
    ...wrapped(title, columns),
    ...pairs.flatMap(([name, value]) => {
      const [first, ...more] = wrapped(value, columns - indent.length, '')
      return [`  ${name.padEnd(width)}  ${first}`, ...more.map((line) => indent + line)]
    }),
  ]
}

/** A number with a noun: `1 block`, `5,000 blocks`; or with another plural. */
export function counted(n: number | bigint, one: string, many = `${one}s`): string {
  return `${grouped(n)} ${Number(n) === 1 ? one : many}`
}

/** A difference without its sign. */
export function absolute(difference: bigint): bigint {
  return difference < 0n ? -difference : difference
}

/** A difference: `+1,234`, `-1,234`, `0`. */
export function signed(n: bigint): string {
  return n > 0n ? `+${grouped(n)}` : grouped(n)
}

/** A part of a whole: `12.3 %`; empty if the whole is 0. */
export function share(part: number | bigint, whole: number | bigint): string {
  return Number(whole) === 0 ? '' : `${((100 * Number(part)) / Number(whole)).toFixed(1)} %`
}

const PREFIXES = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB']

/** Bytes in full, and from 1 MiB also in a binary unit: `107,042,242 bytes (102.1 MiB)`. */
export function bytes(n: bigint): string {
  const full = counted(n, 'byte')
  if (n < 1_048_576n) return full
  let value = Number(n) / 1024
  let prefix = 0
  // No value is rounded to 1024.0.
  for (; value >= 1023.95 && prefix < PREFIXES.length - 1; prefix++) value /= 1024
  return `${full} (${value.toFixed(1)} ${PREFIXES[prefix]})`
}

/**
 * What terminals obey, or what changes how the text around it is displayed: control characters, also as bytes that are
 * no UTF-8 (`\udc80` to `\udc9f`), and invisible characters, such as marks that reverse the direction of text.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\udc80-\udc9f]/gu

/** Text that is safe for a terminal: control characters become `\xNN`, and invisible ones `\uNNNN` or `\u{NNNNN}`. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (hidden) => {
    const code = hidden.codePointAt(0) as number
    const isByte = code < 0x100 || (code >= 0xdc80 && code <= 0xdc9f)
    return isByte ? `\\x${(code & 0xff).toString(16).padStart(2, '0')}` : escapeOf(code)
  })
}

/** A bar whose length is the share of the largest value, up to 30 marks; the least one has a mark too. */
export function bar(value: number, largest: number): string {
  return '#'.repeat(Math.ceil((30 * value) / largest))
}

/** A paragraph as lines of a number of columns, of which all but the first are indented. */
export function wrapped(text: string, columns: number, indent = '  '): string[] {
  const lines = ['']
  // A percentage is one word.
  for (const word of text.split(/ (?!%)/)) {
    const line = lines.at(-1) as string
    if (line !== '' && line.length + 1 + word.length > columns) lines.push(indent + word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}
