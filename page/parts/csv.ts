/** The maximum number of characters of a file's name. */
const LONGEST = 80

/** The name of a file: letters, digits and dashes. */
export function fileName(title: string, ending: string): string {
  const words = title.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return `${words.replace(/^-+|-+$/g, '').slice(0, LONGEST) || 'heapflow'}.${ending}`
}

/**
 * A table as comma-separated values (RFC 4180). Text that a spreadsheet would take for a formula has a quote before it.
 */
export function csv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(field).join(',')}\r\n`).join('')
}

function field(text: string): string {
  const isNumber = /^-?\d+(\.\d+)?$/.test(text)
  const safe = !isNumber && /^[=+\-@\t\r|%]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** The text of a cell as files have it: a number without separators, or else the text. */
export function fileNumber(text: string): string {
  const plain = text
    .replace(/^(?:[▲▼=] )\+?/, '')
    .replace('−', '-')
    .replaceAll(',', '')
    .replace(/ bytes?$/, '')
  return /^-?\d+(\.\d+)?$/.test(plain) ? plain : text
}
