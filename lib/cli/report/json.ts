/** Keys whose values are addresses: `"0x..."` strings, as in the NDJSON of events. */
const ADDRESSES = new Set(['callSite'])

/**
 * A plain value as JSON. Integers are written in full, including those that a double cannot hold; addresses as hex
 * strings; undefined fields are omitted. Every item of a list of objects has a line, and so has every field of an
 * object that contains others; everything below is on one line, so that a long table can be read and compared by lines.
 */
export function jsonText(value: unknown): string {
  return `${print(value, '', '', false)}\n`
}

/** The same in one line, without its end. */
export function jsonLine(value: unknown): string {
  return print(value, '', '', true)
}

function print(value: unknown, key: string, indent: string, isFlat: boolean): string {
  if (typeof value === 'bigint') return ADDRESSES.has(key) ? `"0x${value.toString(16)}"` : value.toString()
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const isList = Array.isArray(value)
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  const isOpen = !isFlat && entries.some(([, item]) => typeof item === 'object' && item !== null)
  const inner = `${indent}  `
  const items = entries.map(([name, item]) =>
    isList ? print(item, key, inner, true) : `${JSON.stringify(name)}: ${print(item, name, inner, !isOpen)}`,
  )
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  if (!isOpen) return `${open}${items.join(', ')}${close}`
  return `${open}\n${items.map((item) => inner + item).join(',\n')}\n${indent}${close}`
}
