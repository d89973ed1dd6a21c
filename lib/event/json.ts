import { wrongType } from './error.js'
import { showValue } from './message-text.js'

/**
 * A value in `TraceEvent.fields`. Integers are exact and have at most 10,000 digits. Exact whole numbers are accepted
 * instead of bigints.
 */
export type FieldValue = bigint | string | readonly FieldValue[] | { readonly [name: string]: FieldValue }

/**
 * The maximum nesting of values, including the event around them: twice the nesting of the records of any DTD, in which
 * each level is at most a list of objects. Hostile text cannot exhaust the stack with this depth.
 */
export const MAX_DEPTH = 128

/** The maximum length of an event's `fields` as text, which fits into a line of NDJSON with all other fields. */
export const MAX_FIELDS_LENGTH = 3_000_000

/**
 * The largest number of digits of an integer. The time to read or write an integer in decimal grows with the square of
 * its length.
 */
export const MAX_DIGITS = 10_000
const MAX_INTEGER = 10n ** BigInt(MAX_DIGITS)

/**
 * Writes named values as JSON without spaces. Integers are written in full.
 * @throws TypeError (code ERR_INVALID_ARG_TYPE) for a value that is not an integer, a string, an array or a plain
 *   object
 * @throws RangeError if a reader would refuse the values: nested too deep, too long, or an integer of too many digits
 */
export function stringifyFields(value: FieldValue): string {
  // The event's object counts as one level.
  const text = stringify(value, 1)
  if (text.length > MAX_FIELDS_LENGTH)
    throw new RangeError(`the values of an event take more than ${MAX_FIELDS_LENGTH} characters`)
  return text
}

function stringify(value: unknown, depth: number): string {
  if (typeof value === 'bigint') {
    if (value >= MAX_INTEGER || value <= -MAX_INTEGER)
      throw new RangeError(`an integer among the values of an event has more than ${MAX_DIGITS} digits`)
    return String(value)
  }
  if (typeof value === 'string') return JSON.stringify(value)
  if (Number.isSafeInteger(value)) return String(BigInt(value as number))
  if (depth >= MAX_DEPTH) throw new RangeError(`the values of an event are nested more than ${MAX_DEPTH} deep`)
  // `map` would skip the holes of a sparse array.
  if (Array.isArray(value)) return `[${Array.from(value, (item: unknown) => stringify(item, depth + 1)).join(',')}]`
  if (!isPlainObject(value))
    throw wrongType(`the values of an event must be integers, strings, arrays and objects, not ${showValue(value)}`)
  return `{${Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([name, item]) => `${JSON.stringify(name)}:${stringify(item, depth + 1)}`)
    .join(',')}}`
}

/** Whether a value is a plain object, from any realm. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Parses any JSON, with integers as bigint, so that none loses digits. @throws Error with the fault of the text */
export function parseJson(text: string): unknown {
  const parser = new JsonParser(text)
  return parser.whole()
}

/** Groups: a mark, a string, an integer, another value. */
const TOKENS = [
  /([{}[\],:])/,
  /("(?:[^"\\]|\\.)*")/,
  /(-?(?:0|[1-9]\d*)(?![\d.eE]))/,
  /(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/,
]
const TOKEN = new RegExp(`[ \\t\\n\\r]*(?:${TOKENS.map(({ source }) => source).join('|')})`, 'y')

class JsonParser {
  private readonly tokens = new RegExp(TOKEN)
  /** The last token: a mark, or `value` and its value. */
  private mark = ''
  private value: unknown

  constructor(private readonly text: string) {}

  whole(): unknown {
    this.next()
    const value = this.read(0)
    if (this.text.slice(this.tokens.lastIndex).trim() !== '') this.fail(this.tokens.lastIndex)
    return value
  }

  private is(mark: string): boolean {
    return this.mark === mark
  }

  private next(): void {
    const from = this.tokens.lastIndex
    const found = this.tokens.exec(this.text)
    if (found === null) this.fail(from)
    const [, mark, string, integer, other] = found
    this.mark = mark ?? 'value'
    if (integer !== undefined) {
      if (integer.replace('-', '').length > MAX_DIGITS) throw new Error(`an integer has more than ${MAX_DIGITS} digits`)
      this.value = BigInt(integer)
    } else if (string !== undefined || other !== undefined) this.value = this.scalar((string ?? other) as string, from)
  }

  private scalar(token: string, at: number): unknown {
    try {
      return JSON.parse(token)
    } catch {
      // An invalid escape, or a control character.
      return this.fail(at)
    }
  }

  /** The value that begins with the last token. */
  private read(depth: number): unknown {
    if (depth > MAX_DEPTH) throw new Error(`not JSON: nested more than ${MAX_DEPTH} deep`)
    if (this.is('value')) return this.value
    if (this.is('[')) return this.list(depth)
    if (this.is('{')) return this.object(depth)
    return this.fail(this.tokens.lastIndex - 1)
  }

  private list(depth: number): unknown[] {
    const items: unknown[] = []
    this.next()
    while (!this.is(']')) {
      items.push(this.read(depth + 1))
      if (!this.more(']')) break
    }
    return items
  }

  private object(depth: number): Record<string, unknown> {
    const entries: [string, unknown][] = []
    this.next()
    while (!this.is('}')) {
      const name = this.value
      if (!this.is('value') || typeof name !== 'string') this.fail(this.tokens.lastIndex - 1)
      this.next()
      if (!this.is(':')) this.fail(this.tokens.lastIndex - 1)
      this.next()
      entries.push([name, this.read(depth + 1)])
      if (!this.more('}')) break
    }
    // By entries, because a name such as __proto__ has no special meaning here.
    return Object.fromEntries(entries)
  }

  /** Continues after a comma. @returns false at the closing mark */
  private more(closing: string): boolean {
    this.next()
    if (this.is(closing)) return false
    if (!this.is(',')) this.fail(this.tokens.lastIndex - 1)
    this.next()
    if (this.is(closing)) this.fail(this.tokens.lastIndex - 1)
    return true
  }

  private fail(at: number): never {
    const rest = this.text.slice(at, at + 20)
    throw new Error(
      rest.trim() === '' ? 'not JSON: the text ends too soon' : `not JSON: unexpected ${showValue(rest)} at ${at + 1}`,
    )
  }
}
