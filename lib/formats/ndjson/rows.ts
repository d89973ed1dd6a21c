import { HI, LO, WORD } from '../../bytes/u64.js'
import { columnOf, U64Column, type EventBatch } from '../../event/batch.js'
import { APIS, EVERY_FIELD, FIELDS, KINDS, OUTCOMES } from '../../event/fields.js'
import { GroupColumns } from '../../event/groups.js'
import { KERNEL_EVENTS } from '../../kernel/load.js'
import { ADDRESS, API, FIELD_TYPE, I32, JSON_OBJECT, LIST, OUTCOME, STRING, U32, U64 } from './layout.js'

/** The result of `put` for a record that has to be read in another way. */
export const UNUSUAL = -1

const KIND_CODES = codes(KINDS)
const API_CODES = codes(APIS)
const OUTCOME_CODES = codes(OUTCOMES)
const FIELD_CODES = codes(EVERY_FIELD.map(({ name }) => name))

function codes(names: readonly string[]): ReadonlyMap<string, number> {
  return new Map(names.map((name, code) => [name, code]))
}

/** Stores events from `JSON.parse` in columns if they have only usual values, without `BigInt` and further objects. */
export class Rows {
  /** The keys of the last record that are not fields. */
  unknown: string[] = []
  private readonly columns: readonly (Uint32Array | Int32Array | Uint8Array)[]

  /** @param batch has all columns */
  constructor(private readonly batch: EventBatch) {
    this.columns = FIELDS.map((_, f) => {
      const column = batch[columnOf(f)]
      return column instanceof U64Column ? column.words : column
    })
  }

  /**
   * Writes an event.
   * @param record the result of `JSON.parse` for `line`, which has no 16 digits in a row
   * @returns the set of its fields, or `UNUSUAL`: it may be an unusual event, another record, or malformed
   * @throws NoRoom
   */
  put(record: unknown, line: string, row: number): number {
    this.unknown = []
    if (typeof record !== 'object' || record === null) return UNUSUAL
    const { kind } = record as { kind?: unknown }
    const code = KIND_CODES.get(kind as string)
    if (code === undefined) return UNUSUAL
    let mask = 0
    let groups = 0
    for (const name of Object.keys(record)) {
      const value = (record as Record<string, unknown>)[name]
      const f = FIELD_CODES.get(name)
      if (f === undefined) {
        if (name !== 'kind') this.unknown.push(name)
      } else if (value === null) {
        continue
      } else if (f < FIELDS.length) {
        if (!this.store(FIELD_TYPE[f], this.columns[f], value, line, row)) return UNUSUAL
        mask |= 1 << f
      } else {
        if (!this.store(FIELD_TYPE[f], this.groupColumn(f - FIELDS.length), value, line, row)) return UNUSUAL
        groups |= 1 << (f - FIELDS.length)
      }
    }
    if (this.batch.groups !== undefined) this.batch.groups.mask[row] = groups
    this.batch.kind[row] = code
    this.batch.mask[row] = mask
    return mask
  }

  /** The column of a field of a group. The batch keeps it, and its masks are cleared before other events follow. */
  private groupColumn(g: number): Uint32Array | Int32Array {
    const column = (this.batch.groups ??= new GroupColumns(KERNEL_EVENTS)).add(g)
    return column instanceof U64Column ? column.words : column
  }

  /** Writes a value of a type. @returns whether it is usual */
  private store(
    type: number,
    column: Uint32Array | Int32Array | Uint8Array,
    value: unknown,
    line: string,
    row: number,
  ): boolean {
    const { strings } = this.batch
    switch (type) {
      case U64:
      case ADDRESS:
        return typeof value === 'string'
          ? storeHex(column as Uint32Array, row, value)
          : storeWide(column as Uint32Array, row, value)
      case U32:
      case I32:
        column[row] = value as number
        return column[row] === value
      case API:
        return isKnown((column[row] = API_CODES.get(value as string) ?? NO_CODE))
      case OUTCOME:
        return isKnown((column[row] = OUTCOME_CODES.get(value as string) ?? NO_CODE))
      case STRING:
        if (typeof value !== 'string') return false
        column[row] = strings.internText(value)
        return true
      case LIST:
        if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) return false
        column[row] = strings.addList(value.map((item: string) => strings.internText(item)))
        return true
      case JSON_OBJECT: {
        const text = exactText(value, line)
        if (text === undefined) return false
        column[row] = strings.internText(text)
        return true
      }
      default:
        // Base64 is checked elsewhere.
        return false
    }
  }
}

const NO_CODE = 255

function isKnown(code: number): boolean {
  return code !== NO_CODE
}

function storeWide(words: Uint32Array, row: number, value: unknown): boolean {
  if (!Number.isSafeInteger(value) || (value as number) < 0) return false
  const lo = (value as number) >>> 0
  words[2 * row + LO] = lo
  words[2 * row + HI] = ((value as number) - lo) / WORD
  return true
}

/** `0x` and up to 16 hex digits. */
function storeHex(words: Uint32Array, row: number, text: string): boolean {
  const { length } = text
  if (length < 3 || length > 18 || !text.startsWith('0x')) return false
  let lo = 0
  let hi = 0
  for (let i = 2; i < length; i++) {
    const char = text.charCodeAt(i)
    const digit = char <= 57 ? char - 48 : (char | 32) - 87
    if (digit < 0 || digit > 15 || (char > 57 && digit < 10)) return false
    hi = (hi << 4) | (lo >>> 28)
    lo = (lo << 4) | digit
  }
  words[2 * row + LO] = lo
  words[2 * row + HI] = hi
  return true
}

/** Values that are nested deeper are left to the other parser, which has a limit. */
const MAX_DEPTH = 20

const NAME = '"fields"'

/**
 * The text of named values in a line, if it is the text that heapflow would write for them: integers, strings, and
 * lists and objects of these. The comparison finds numbers such as 1.0, which are integers once they are parsed.
 */
function exactText(value: unknown, line: string): string | undefined {
  if (typeof value !== 'object' || Array.isArray(value) || !isExact(value, 0)) return undefined
  const text = JSON.stringify(value)
  const at = line.indexOf(NAME)
  const after = at + NAME.length
  return at >= 0 && line.startsWith(`:${text}`, after) && !line.includes(NAME, after) ? text : undefined
}

function isExact(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return true
  if (typeof value === 'number') return Number.isSafeInteger(value)
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false
  return Object.values(value).every((item) => isExact(item, depth + 1))
}
