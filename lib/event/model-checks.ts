import { malformed } from './error.js'
import { showValue } from './message-text.js'

/* Checks of what `JSON.parse` made of a model, or of results: they may have been written to do harm. */

/**
 * Checks an object of known properties, all of which it must have.
 * @param of its description, for messages
 * @throws TraceError (ERR_TRACE_MALFORMED), as all functions here
 */
export function properties(of: string, value: unknown, known: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(`${of} must be an object`)
  for (const name of known) if (!Object.hasOwn(value, name)) throw wrong(`${of} must have the property ${name}`)
  for (const name of Object.keys(value))
    if (!known.includes(name)) throw wrong(`${of}: unknown property ${showValue(name)}`)
  return value as Record<string, unknown>
}

/** Checks the name and the version of a form, and the other properties as `properties` does. */
export function formOf(
  value: unknown,
  { format, version }: { readonly format: string; readonly version: number },
  known: readonly string[],
): Record<string, unknown> {
  // Another kind of model has other properties.
  const { format: found = format } = Object(value) as { readonly format?: unknown }
  if (found !== format) throw wrong(`format must be "${format}", not ${showValue(found)}`)
  const model = properties('the model', value, ['format', 'version', ...known])
  if (model['version'] !== version) throw wrong(`version must be ${version}, not ${showValue(model['version'])}`)
  return model
}

/**
 * Checks columns of whole numbers that have the same length.
 * @param limits by column, its least and its largest value
 * @param most of their length
 */
export function columns<Columns>(
  of: string,
  value: unknown,
  limits: Readonly<Record<keyof Columns & string, readonly [number, number]>>,
  most: number,
): Columns {
  const table = properties(of, value, Object.keys(limits))
  let length: number | undefined
  for (const [name, [least, largest]] of Object.entries<readonly [number, number]>(limits)) {
    const column: unknown = table[name]
    if (!Array.isArray(column)) throw wrong(`${of}.${name} must be an array`)
    length ??= column.length
    if (column.length !== length || length > most)
      throw wrong(`${of}: all columns must have the same length, at most ${most}`)
    for (const item of column as unknown[]) whole(`${of}.${name}`, item, least, largest)
  }
  return table as Columns
}

export function whole(name: string, value: unknown, least: number, most: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
  throw wrong(`${name} must be a whole number from ${least} to ${most}, not ${showValue(value)}`)
}

/** Checks an array. @param most of its length */
export function list(of: string, value: unknown, most: number): readonly unknown[] {
  if (!Array.isArray(value) || value.length > most) throw wrong(`${of} must be an array of at most ${most}`)
  return value as unknown[]
}

export function flag(name: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw wrong(`${name} must be true or false, not ${showValue(value)}`)
  return value
}

/** The error for a value that is not what was expected. */
export function wrong(reason: string): Error {
  return malformed(reason, { format: 'JSON' })
}
