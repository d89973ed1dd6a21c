// Tables for Markdown.

/**
 * A table, padded for reading as plain text; all columns except the first `words` have numbers.
 * @param {readonly string[]} head
 * @param {readonly (readonly string[])[]} rows
 * @param {number} [words]
 */
export function table(head, rows, words = 1) {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))
  const widths = head.map((_, i) => Math.max(...cells.map((row) => row[i].length)))
  const line = (row) => `| ${row.map((cell, i) => (i < words ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(' | ')} |`
  const rule = `| ${widths.map((width, i) => (i < words ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return [line(cells[0]), rule, ...cells.slice(1).map(line)].join('\n')
}

/**
 * A document with the lines between the marks of this name replaced.
 * @param {string} page
 * @param {string} name
 * @param {string} text
 */
export function withGenerated(page, name, text) {
  const [begin, end] = [`<!-- ${name}: generated -->`, `<!-- /${name} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the marks of "${name}" are missing`)
  return `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`
}
