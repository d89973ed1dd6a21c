import { BATCH_EVENTS, EventBatch } from '../../event/batch.js'
import { APIS, FIELDS, KINDS, OUTCOMES, type FieldType } from '../../event/fields.js'
import { NO_HEADER, type TraceHeader } from '../../event/header.js'
import { checkHeader } from '../../event/header-check.js'
import { parseJson } from '../../event/json.js'
import type { TraceEvent } from '../../event/trace-event.js'
import { unescapeText } from '../arrow/escape.js'
import { fieldFromJson } from '../ndjson/general.js'

/** The type of each field. */
const TYPE_OF: ReadonlyMap<string, FieldType> = new Map(FIELDS.map(({ name, type }) => [name, type]))

/** Values of a column as a reader returns them: null for missing ones. */
export type ReadColumn = ArrayLike<unknown>

/** Whether a column is a field of events, or their kind. */
export function isEventColumn(name: string): boolean {
  return name === 'kind' || TYPE_OF.has(name)
}

/** The headers of all traces and the rows at which they begin. @throws Error that says what is wrong with the text */
export function tracesIn(text: string | undefined): [row: number, header: TraceHeader][] {
  if (text === undefined) return [[0, NO_HEADER]]
  const traces: unknown = JSON.parse(text)
  if (!Array.isArray(traces)) throw new Error('the list of traces is none')
  return traces.map((entry: unknown, i) => {
    const [row, header] = Array.isArray(entry) ? (entry as unknown[]) : []
    if (!Number.isSafeInteger(row) || (row as number) < 0 || (i === 0 && row !== 0))
      throw new Error('a trace does not say where it begins')
    return [row as number, checkHeader(header)]
  })
}

/** Rows of a table as batches of at most 4096 events. @throws Error that says what is wrong with a value */
export function* batchesOfRows(
  columns: ReadonlyMap<string, ReadColumn>,
  count: number,
  header: TraceHeader,
): Generator<EventBatch> {
  const fields = [...columns].filter(([name]) => name !== 'kind')
  const kinds = columns.get('kind')
  for (let from = 0; from < count; from += BATCH_EVENTS) {
    const to = Math.min(count, from + BATCH_EVENTS)
    const batch = new EventBatch(to - from, 0, header)
    for (let i = from; i < to; i++) {
      const kind = kinds?.[i]
      if (!(KINDS as readonly unknown[]).includes(kind)) throw new Error('an event without a known kind')
      const event: Record<string, unknown> = { kind }
      for (const [name, values] of fields) {
        const value = values[i]
        if (value !== null && value !== undefined) event[name] = valueOf(name, TYPE_OF.get(name) as FieldType, value)
      }
      batch.push(event as unknown as TraceEvent)
    }
    yield batch
  }
}

function valueOf(name: string, type: FieldType, value: unknown): unknown {
  switch (type) {
    case 'u64':
    case 'address':
      // Signed integers keep their bits, because programs without unsigned ones write kernel addresses that way.
      return BigInt.asUintN(64, BigInt(integer(name, value)))
    case 'u32':
    case 'i32':
      return Number(integer(name, value))
    case 'api':
      return oneOf(name, APIS, value)
    case 'outcome':
      return oneOf(name, OUTCOMES, value)
    case 'string':
      return unescapeText(text(name, value))
    case 'list':
      if (!Array.isArray(value)) throw new Error(`${name} must be a list of strings`)
      return value.map((item) => unescapeText(text(name, item)))
    case 'bytes':
      if (!(value instanceof Uint8Array)) throw new Error(`${name} must be bytes`)
      return value
    case 'json':
      return fieldFromJson('fields', 'json', parseJson(text(name, value)))
  }
}

function integer(name: string, value: unknown): bigint | number {
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return value as bigint | number
  throw new Error(`${name} must be an integer`)
}

function text(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  throw new Error(`${name} must be a string`)
}

function oneOf(name: string, names: readonly string[], value: unknown): string {
  if (typeof value === 'string' && names.includes(value)) return value
  throw new Error(`unknown ${name}`)
}
