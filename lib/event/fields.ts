/**
 * The event model as data: the kinds of event, the fields an event can have, and how each field is stored and written.
 * The order of FIELDS is the canonical order of keys on the NDJSON wire.
 */

/** The kinds of events. The position in this list is the code in `EventBatch.kind`. */
export const KINDS = [
  'alloc',
  'free',
  'realloc',
  /** A block that was on the heap before recording began. */
  'existing',
  /** Memory that the allocator took from the system (mpatrol H and I; I has type "internal"). */
  'reserve',
  'heap-create',
  'heap-destroy',
  'thread-create',
  'thread-destroy',
  'comment',
  /** The recorder reports that it lost events here. */
  'lost',
  /** A record of a kind that the model does not have, preserved; `code` is the format's own number for it. */
  'other',
  /**
   * A process, which `process` names, has ended, or an exec has replaced its program: none of its blocks is live any
   * more. Without `process`, that of all events without one.
   */
  'process-end',
] as const
/** The name of a kind of event. */
export type KindName = (typeof KINDS)[number]

/** The function of an event, if the format has it. The position is the code in `EventBatch.api`. */
export const APIS = [
  'malloc',
  'calloc',
  'memalign',
  'realloc',
  'free',
  'new',
  'delete',
  'kmalloc',
  'kfree',
  'kmem_cache_alloc',
  'kmem_cache_free',
  'pages',
] as const
/** The name of an allocation function. */
export type ApiName = (typeof APIS)[number]

/** The outcomes of reallocs: the four realloc records of HATF. The position is the code in `EventBatch.outcome`. */
export const OUTCOMES = [
  /** The block stayed in place. */
  'none',
  /** A new block, and the old one freed. */
  'moved',
  /** A new block only: realloc of the null pointer. */
  'allocated',
  /** The old block freed only: realloc to size 0. */
  'freed',
] as const
/** The name of a realloc's outcome. */
export type OutcomeName = (typeof OUTCOMES)[number]

/**
 * How a field is stored in a batch and written on the wire:
 * - `u64`, `address`: a 64-bit column; an integer, or a `"0x..."` string
 * - `u32`, `i32`: a 32-bit column; an integer
 * - `api`, `outcome`: a code in one byte; its name
 * - `string`, `bytes`: an id in the batch's string table; a string, or base64
 * - `list`: an id of a list in the string table; an array of strings
 * - `json`: an id in the string table, of JSON text without spaces; an object
 */
export type FieldType = 'u64' | 'address' | 'u32' | 'i32' | 'api' | 'outcome' | 'string' | 'bytes' | 'list' | 'json'

/** Every field except `kind`, which every event has. The position is the field's bit in `EventBatch.mask`. */
export const FIELDS = [
  { name: 'api', type: 'api' },
  { name: 'process', type: 'u64' },
  { name: 'thread', type: 'u64' },
  { name: 'cpu', type: 'i32' },
  { name: 'node', type: 'i32' },
  { name: 'sequence', type: 'i32' },
  { name: 'time', type: 'u64' },
  { name: 'endTime', type: 'u64' },
  { name: 'heap', type: 'address' },
  { name: 'index', type: 'u64' },
  { name: 'address', type: 'address' },
  { name: 'oldAddress', type: 'address' },
  { name: 'size', type: 'u64' },
  { name: 'count', type: 'u64' },
  { name: 'elementSize', type: 'u64' },
  { name: 'alignment', type: 'u64' },
  { name: 'usable', type: 'u64' },
  { name: 'present', type: 'u64' },
  { name: 'gfpFlags', type: 'u32' },
  { name: 'callSite', type: 'address' },
  { name: 'outcome', type: 'outcome' },
  { name: 'function', type: 'string' },
  { name: 'file', type: 'string' },
  { name: 'line', type: 'u32' },
  { name: 'type', type: 'string' },
  { name: 'stack', type: 'list' },
  { name: 'text', type: 'string' },
  { name: 'attributes', type: 'bytes' },
  { name: 'code', type: 'u32' },
  { name: 'fields', type: 'json' },
  { name: 'module', type: 'string' },
] as const satisfies readonly { name: string; type: FieldType }[]
/** The name of a field. */
export type FieldName = (typeof FIELDS)[number]['name']

/** The code of each kind: `Kind.alloc` is 0. */
export const Kind = codes(KINDS)
/** The code of each allocation function. */
export const Api = codes(APIS)
/** The code of each outcome of a realloc. */
export const Outcome = codes(OUTCOMES)
/** The bit of each field in `EventBatch.mask` and in sets of fields. Copy what a hot loop needs into a constant. */
export const FieldBit = Object.fromEntries(FIELDS.map((field, i) => [field.name, 1 << i])) as Readonly<
  Record<FieldName, number>
>
/** The set of all fields. */
export const ALL_FIELDS = 2 ** FIELDS.length - 1

function codes<const Names extends readonly string[]>(names: Names): Readonly<Record<Names[number], number>> {
  return Object.fromEntries(names.map((name, i) => [name, i])) as Record<Names[number], number>
}

/** The names of the fields in a set, in canonical order. */
export function fieldNames(set: number): FieldName[] {
  return FIELDS.filter((_, i) => (set >>> i) & 1).map((field) => field.name)
}

/** The set of the fields named. */
export function fieldSet(...names: FieldName[]): number {
  return names.reduce((set, name) => set | FieldBit[name], 0)
}
