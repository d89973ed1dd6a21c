import { ALL_FIELDS, EVERY_FIELD, FIELDS, KINDS, type FieldType } from '../../event/fields.js'
import type { Carried } from '../../event/losses.js'

/** Longer lines are refused. The longest that heapflow writes are events with the longest possible `fields`. */
export const MAX_LINE_BYTES = 4_194_304

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
export {
  AS_ADDRESS as ADDRESS,
  AS_API as API,
  AS_BYTES as BYTES,
  AS_I32 as I32,
  AS_JSON as JSON_OBJECT,
  AS_LIST as LIST,
  AS_OUTCOME as OUTCOME,
  AS_STRING as STRING,
  AS_U32 as U32,
  AS_U64 as U64,
} from '../../kernel/layouts/ndjson.js'

/** Per field, one of the codes above; fields of groups come after the core. */
export const FIELD_TYPE = Uint8Array.from(EVERY_FIELD, (field) => TYPES.indexOf(field.type))

const OPENING: Readonly<Record<FieldType, string>> = {
  u64: '',
  u32: '',
  i32: '',
  json: '',
  list: '[',
  address: '"',
  api: '"',
  outcome: '"',
  string: '"',
  bytes: '"',
}

/** Per field, the text between the previous value and this one: `,"thread":`, `,"address":"`, `,"stack":[`. */
export const KEYS = FIELDS.map(({ name, type }) => `,"${name}":${OPENING[type]}`)

/** NDJSON represents everything. */
export const CARRIED: Carried = Object.fromEntries(KINDS.map((kind) => [kind, ALL_FIELDS]))
