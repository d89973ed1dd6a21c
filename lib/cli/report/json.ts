/** Keys whose values are addresses: `"0x..."` strings, as in the NDJSON of events. */
const ADDRESSES = new Set(['callSite'])

/**
 * A plain value as JSON. Integers are written in full, including those that a double cannot hold; addresses as hex
 * strings; undefined fields are omitted. Every item of a list of objects has a line, and so has every field of an
 * object that contains others; everything below is on one line, so that a long table can be read and compared by lines.
 *
 * It comes in pieces, because a table may be longer than the longest string, and the fields of a row are read when its
 * line is written. @param unknown keys whose values are written as null
 */
export function* jsonPieces(value: unknown, unknown: ReadonlySet<string> = new Set()): Generator<string> {
  yield* parts(value, { key: '', indent: '', isFlat: false, unknown })
  yield '\n'
}

/** The same, of what is not large. */
export function jsonText(value: unknown): string {
  return [...jsonPieces(value)].join('')
}

/** The same in one line, without its end. */
export function jsonLine(value: unknown): string {
  return [...parts(value, { key: '', indent: '', isFlat: true, unknown: new Set() })].join('')
}

/** Where a value is written. */
interface Place {
  readonly key: string
  readonly indent: string
  /** In one line. */
  readonly isFlat: boolean
  readonly unknown: ReadonlySet<string>
}

function* parts(value: unknown, { key, indent, isFlat, unknown }: Place): Generator<string> {
  if (typeof value !== 'object' || value === null) {
    yield primitive(value, key)
    return
  }
  const isList = Array.isArray(value)
  const record = value as Record<string, unknown>
  const names = Object.keys(record)
  const isOpen = !isFlat && names.some((name) => typeof record[name] === 'object' && record[name] !== null)
  const inner = `${indent}  `
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  let before = isOpen ? `${open}\n${inner}` : open
  for (const name of names) {
    const item = !isList && unknown.has(name) ? null : record[name]
    if (item === undefined) continue
    const start = isList ? before : `${before}${JSON.stringify(name)}: `
    before = isOpen ? `,\n${inner}` : ', '
    if (typeof item !== 'object' || item === null) yield start + primitive(item, isList ? key : name)
    else {
      yield start
      yield* parts(item, { key: isList ? key : name, indent: inner, isFlat: isList || !isOpen, unknown })
    }
  }
  // Nothing came.
  if (before === open) yield `${open}${close}`
  else yield isOpen ? `\n${indent}${close}` : close
}

function primitive(value: unknown, key: string): string {
  if (typeof value === 'bigint') return ADDRESSES.has(key) ? `"0x${value.toString(16)}"` : value.toString()
  return JSON.stringify(value)
}
