import { checkEvent, codeValue, u64Value } from './field-value.js'
import { EVERY_FIELD, KINDS, type FieldName, type FieldType } from './fields.js'
import { stringifyFields, type FieldValue } from './json.js'
import type { TraceEvent } from './trace-event.js'

/**
 * An event as one line of NDJSON without the line feed: the canonical order of keys, addresses as hexadecimal strings,
 * every other integer in full, attributes in base64. Accepts events from batches and other objects.
 * @throws TypeError or RangeError for what is not an event, and for integers that no event can have
 */
export function eventToJson(event: TraceEvent): string {
  checkEvent(event)
  let text = `{"kind":${JSON.stringify(KINDS[codeValue('kind', KINDS, event.kind)])}`
  for (const { name, type } of EVERY_FIELD) {
    const value = event[name]
    if (value !== undefined) text += fieldToJson(name, type, value)
  }
  return `${text}}`
}

/** The JSON form of a field of an event, after a comma. */
export function fieldToJson(name: FieldName, type: FieldType, value: NonNullable<TraceEvent[FieldName]>): string {
  return `,"${name}":${jsonText(name, type, value)}`
}

/**
 * The object that `JSON.stringify` writes, with the values that `eventToJson` writes. Integers from 2^53 on, which a
 * double cannot represent, become strings of digits, which are read back like numbers.
 */
export function eventForJson(event: TraceEvent): Record<string, unknown> {
  const values: Record<string, unknown> = { kind: event.kind }
  for (const { name, type } of EVERY_FIELD) {
    const value = event[name]
    if (value !== undefined) values[name] = jsonValue(type, value)
  }
  return values
}

type Value = NonNullable<TraceEvent[FieldName]>

function jsonText(name: FieldName, type: FieldType, value: Value): string {
  if (type === 'u64' || type === 'address') value = u64Value(name, value)
  if (type === 'u64') return String(value)
  return type === 'json' ? stringifyFields(value as FieldValue) : JSON.stringify(jsonValue(type, value))
}

function jsonValue(type: FieldType, value: Value): unknown {
  switch (type) {
    case 'address':
      return `0x${(value as bigint).toString(16)}`
    case 'u64':
      return exactNumber(value as bigint)
    case 'bytes':
      return Buffer.from(value as Uint8Array).toString('base64')
    case 'json':
      return nested(value as FieldValue)
    default:
      return value
  }
}

function nested(value: FieldValue): unknown {
  if (typeof value === 'bigint') return exactNumber(value)
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(nested)
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, nested(item)]))
}

function exactNumber(value: bigint): number | string {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}
