import { fieldsText } from './field-value.js'
import { APIS, EVERY_FIELD, KINDS, OUTCOMES, type FieldName, type FieldType } from './fields.js'
import type { TraceHeader } from './header.js'
import { checkHeader, unknownKeys } from './header-check.js'
import { parseJson, type FieldValue } from './json.js'
import { showJson, showText } from './message-text.js'
import type { TraceEvent } from './trace-event.js'

/** The kinds of the first and the last record of a stream. */
export const HEADER_KIND = 'header'
export const END_KIND = 'end'

/** The records that a line of NDJSON can have. */
export type WireRecord =
  /** `unknown` are keys that are left out: no header has them. */
  | { readonly kind: 'header'; readonly header: TraceHeader; readonly unknown: readonly string[] }
  /** `events` is undefined if another program removed it. */
  | { readonly kind: 'end'; readonly events: number | undefined }
  | { readonly kind: 'event'; readonly event: TraceEvent; readonly unknown: readonly string[] }

const MAX_U64 = 0xffff_ffff_ffff_ffffn

const TYPE_OF: ReadonlyMap<string, FieldType> = new Map(EVERY_FIELD.map(({ name, type }) => [name, type]))

/** Whether an object is a header or end record, not an event. */
export function isBoundary({ kind }: { readonly kind: string }): boolean {
  return kind === HEADER_KIND || kind === END_KIND
}

/**
 * Checks and converts the parsed JSON of one record.
 * @throws Error that says what is wrong with it, without the place
 */
export function recordFromJson(value: unknown): WireRecord {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('a line must be a JSON object')
  const { kind, events } = value as Record<string, unknown>
  if (kind === HEADER_KIND)
    return { kind, header: checkHeader(value), unknown: unknownKeys(value).filter((key) => key !== 'kind') }
  if (kind === END_KIND) {
    const isCounted = events !== undefined && events !== null
    return { kind, events: isCounted ? Number(integer('events', events, 0n, MAX_U64)) : undefined }
  }
  if (typeof kind !== 'string') throw new Error('a record must have a kind')
  if (!(KINDS as readonly string[]).includes(kind)) throw new Error(`unknown kind of event: ${showJson(kind)}`)
  const event: Record<string, unknown> = { kind }
  const unknown: string[] = []
  for (const name of Object.keys(value)) {
    const type = TYPE_OF.get(name)
    const field = (value as Record<string, unknown>)[name]
    if (type !== undefined && field !== null) event[name] = fieldFromJson(name as FieldName, type, field)
    else if (type === undefined && name !== 'kind') unknown.push(name)
  }
  return { kind: 'event', event: event as unknown as TraceEvent, unknown }
}

/** Checks and converts a field. @throws Error that says what is wrong */
export function fieldFromJson(name: FieldName, type: FieldType, value: unknown): unknown {
  switch (type) {
    case 'u64':
    case 'address':
      return integer(name, value, 0n, MAX_U64)
    case 'u32':
      return Number(integer(name, value, 0n, 0xffff_ffffn))
    case 'i32':
      return Number(integer(name, value, -0x8000_0000n, 0x7fff_ffffn))
    case 'api':
      return oneOf(name, APIS, value)
    case 'outcome':
      return oneOf(name, OUTCOMES, value)
    case 'string':
      return string(name, value)
    case 'bytes':
      return base64(name, string(name, value))
    case 'list':
      if (!Array.isArray(value)) throw new Error(`${name} must be an array of strings`)
      return value.map((item) => string(name, item))
    case 'json':
      if (typeof value !== 'object' || Array.isArray(value)) throw new Error(`${name} must be an object`)
      return checkFields(name, value)
  }
}

/** JSON in any form as the text of `fields` that events have. @throws Error that says what is wrong */
export function fieldsFromJson(text: string): string {
  return fieldsText('fields', fieldFromJson('fields', 'json', parseJson(text)))
}

/** An integer as a JSON number, or as a string in decimal or hex. */
function integer(name: string, value: unknown, least: bigint, most: bigint): bigint {
  if (typeof value === 'bigint' && value >= least && value <= most) return value
  if (typeof value === 'number' && value >= 0 && value <= 0x7fff_ffff && Number.isInteger(value)) return BigInt(value)
  const written =
    typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value)) ? String(value) : value
  if (typeof written !== 'string' || !/^(-?\d{1,20}|0[xX][0-9a-fA-F]{1,16})$/.test(written)) {
    // Beyond 2^53, a number with a fraction or an exponent was rounded.
    const need = Number.isInteger(value) ? 'have all its digits' : 'be an integer'
    throw new Error(`${name} must ${need}, not ${showJson(value)}`)
  }
  const exact = BigInt(written)
  if (exact < least || exact > most) throw new Error(`${name} is out of range: ${showText(written)}`)
  return exact
}

/** Named values: integers, strings, and lists and objects of these. */
function checkFields(name: string, value: unknown): FieldValue {
  if (typeof value === 'bigint' || typeof value === 'string') return value
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  if (Array.isArray(value)) return value.map((item) => checkFields(name, item))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, checkFields(name, item)]))
  }
  throw new Error(`${name} must hold integers, strings, lists and objects, not ${showJson(value)}`)
}

function string(name: string, value: unknown): string {
  if (typeof value !== 'string') throw new Error(`${name} must be a string, not ${showJson(value)}`)
  return value
}

/** The bytes of base64, with padding or without. */
function base64(name: string, text: string): Uint8Array {
  const [whole, digits = ''] = /^([A-Za-z0-9+/]*)={0,2}$/.exec(text) ?? []
  const isPadded = text.length > digits.length
  if (whole === undefined || digits.length % 4 === 1 || (isPadded && text.length % 4 !== 0))
    throw new Error(`${name} is not base64: ${showJson(text)}`)
  return Uint8Array.from(Buffer.from(text, 'base64'))
}

function oneOf(name: string, names: readonly string[], value: unknown): string {
  if (typeof value !== 'string' || !names.includes(value)) throw new Error(`unknown ${name}: ${showJson(value)}`)
  return value
}
