import { ALL_FIELDS, APIS, FIELDS, KINDS, OUTCOMES, type FieldType } from '../../../lib/event/fields.js'
import type { Carried } from '../../../lib/event/losses.js'
import { Text } from './text.js'

/**
 * A line without end is given up at this length. The longest that heapflow writes are events whose `fields` are as long
 * as they may be.
 */
export const MAX_LINE_BYTES = 4_194_304

/** The kinds of the record that begins and the record that ends a stream. */
export const HEADER_KIND = 'header'
export const END_KIND = 'end'

/** How a value is written, in the order of the codes below. */
const TYPES: readonly FieldType[] = [
  'u64',
  'address',
  'u32',
  'i32',
  'api',
  'outcome',
  'string',
  'bytes',
  'list',
  'json',
]
export const U64 = 0
export const ADDRESS = 1
export const U32 = 2
export const I32 = 3
export const API = 4
export const OUTCOME = 5
export const STRING = 6
export const BYTES = 7
export const LIST = 8
export const JSON_OBJECT = 9

/** Per field, one of the codes above. */
export const FIELD_TYPE = Uint8Array.from(FIELDS, (field) => TYPES.indexOf(field.type))

const OPENING: Readonly<Record<FieldType, string>> = {
  u64: '',
  u32: '',
  i32: '',
  json: '',
  list: '[',
  address: '"0x',
  api: '"',
  outcome: '"',
  string: '"',
  bytes: '"',
}

/** Per field, what stands between the value before and this one: `,"thread":`, `,"address":"0x`, `,"file":"`. */
export const KEYS = FIELDS.map(({ name, type }) => ascii(`,"${name}":${OPENING[type]}`))
export const KEY_TEXTS = KEYS.map((key) => new Text(key))

/** How the line of an event of each kind begins: `{"kind":"alloc"`. */
export const KIND_TEXTS = KINDS.map((name) => new Text(ascii(`{"kind":"${name}"`)))

/** Names of codes with their closing quotes: `malloc"`. */
export const API_TEXTS = APIS.map((name) => new Text(ascii(`${name}"`)))
export const OUTCOME_TEXTS = OUTCOMES.map((name) => new Text(ascii(`${name}"`)))

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** The wire has a place for everything. */
export const CARRIED: Carried = Object.fromEntries(KINDS.map((kind) => [kind, ALL_FIELDS]))
