import { showValue } from './message-text.js'
import { didYouMean } from './suggest.js'

/**
 * The event model as data: the kinds of event, the fields an event can have, and how each field is stored and written.
 * The order of FIELDS, and then of GROUP_FIELDS, is the canonical order of keys on the NDJSON wire.
 *
 * The fields of FIELDS are the core, which the masks of batches and kernels know; it is complete. A new field is one
 * more line at the end of GROUP_FIELDS: events, NDJSON, Arrow, Parquet, compact and all transforms carry it then.
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
   * more. Without `process`, this is the process of all events without one.
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
 * The storage of a field in a batch, and its form on the wire:
 * - `u64`, `address`: a 64-bit column; an integer, or a `"0x..."` string
 * - `u32`, `i32`: a 32-bit column; an integer
 * - `api`, `outcome`: a code in one byte; its name
 * - `string`, `bytes`: an id in the batch's string table; a string, or base64
 * - `list`: an id of a list in the string table; an array of strings
 * - `json`: an id in the string table, of JSON text without spaces; an object
 */
export type FieldType = 'u64' | 'address' | 'u32' | 'i32' | 'api' | 'outcome' | 'string' | 'bytes' | 'list' | 'json'

/**
 * The core: every field except `kind`, which every event has, and the fields of groups. The position is the field's bit
 * in `EventBatch.mask`.
 */
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
export type CoreFieldName = (typeof FIELDS)[number]['name']

/** The storage types of fields of groups. */
export type GroupFieldType = Extract<FieldType, 'u64' | 'address' | 'u32' | 'i32' | 'string'>

/**
 * The fields that few formats have, in groups. The position is the field's bit in `GroupColumns.mask`, so the order
 * never changes. There may be 31.
 */
export const GROUP_FIELDS = [
  { name: 'weight', type: 'u64' },
  { name: 'device', type: 'i32' },
  { name: 'stream', type: 'u64' },
  { name: 'arena', type: 'string' },
] as const satisfies readonly { name: string; type: GroupFieldType }[]
export type GroupFieldName = (typeof GROUP_FIELDS)[number]['name']

export type FieldName = CoreFieldName | GroupFieldName

/** All fields, in canonical order. Positions are not bit numbers. */
export const EVERY_FIELD: readonly { readonly name: FieldName; readonly type: FieldType }[] = [
  ...FIELDS,
  ...GROUP_FIELDS,
]

/**
 * The groups of fields that a format may have besides the core. Some have fields of the core, because they are older
 * than the groups.
 */
export const GROUPS = {
  /** Sampled recordings: an event stands for `weight` events like it. Without the field, for itself alone. */
  sampling: ['weight'],
  /** Allocators of GPUs: the number of the device, and the stream in whose order memory is used and freed. */
  gpu: ['device', 'stream'],
  /** Programs with several allocators: the name of the one that has the block, or of its arena, pool or zone. */
  arena: ['arena'],
  /** The number of bytes that an allocator reserves for a block. */
  usable: ['usable'],
  /** Allocations of a kernel. */
  kernel: ['cpu', 'node', 'sequence', 'gfpFlags', 'callSite'],
  /** Samples of resident memory. */
  resident: ['present'],
  /** When calls return, and what a realloc did. */
  results: ['endTime', 'outcome'],
} as const satisfies Readonly<Record<string, readonly FieldName[]>>
/** The name of a group of fields. */
export type GroupName = keyof typeof GROUPS

/** The code of each kind: `Kind.alloc` is 0. */
export const Kind = codes(KINDS)
/** The code of each allocation function. */
export const Api = codes(APIS)
/** The code of each outcome of a realloc. */
export const Outcome = codes(OUTCOMES)
/**
 * The bit of each field of the core in `EventBatch.mask` and in sets of fields. Copy what a hot loop needs into a
 * constant.
 */
export const FieldBit = Object.fromEntries(FIELDS.map((field, i) => [field.name, 1 << i])) as Readonly<
  Record<CoreFieldName, number>
>
/** The set of all fields of the core. */
export const ALL_FIELDS = 2 ** FIELDS.length - 1

/** The set of fields whose columns refer to strings or lists. */
export const STRING_FIELDS = FIELDS.reduce(
  (set, { type }, f) => (['string', 'bytes', 'json', 'list'].includes(type) ? set | (1 << f) : set),
  0,
)
/** The bit of each field of a group in `GroupColumns.mask` and in sets of such fields. */
export const GroupBit = Object.fromEntries(GROUP_FIELDS.map((field, i) => [field.name, 1 << i])) as Readonly<
  Record<GroupFieldName, number>
>
/** The set of all fields of groups. */
export const ALL_GROUP_FIELDS = 2 ** GROUP_FIELDS.length - 1

function codes<const Names extends readonly string[]>(names: Names): Readonly<Record<Names[number], number>> {
  return Object.fromEntries(names.map((name, i) => [name, i])) as Record<Names[number], number>
}

/** The names of the fields of the core in a set, in canonical order. */
export function fieldNames(set: number): CoreFieldName[] {
  return FIELDS.filter((_, i) => (set >>> i) & 1).map((field) => field.name)
}

/** The set of the fields of the core that are named. @throws RangeError for an unknown field */
export function fieldSet(...names: CoreFieldName[]): number {
  return names.reduce((set, name) => set | bitOf(FieldBit, name, 'fieldSet'), 0)
}

/** The names of the fields of groups in a set, in canonical order. */
export function groupFieldNames(set: number): GroupFieldName[] {
  return GROUP_FIELDS.filter((_, i) => (set >>> i) & 1).map((field) => field.name)
}

/** The set of the fields of groups that are named. @throws RangeError for an unknown field */
export function groupFieldSet(...names: GroupFieldName[]): number {
  return names.reduce((set, name) => set | bitOf(GroupBit, name, 'groupFieldSet'), 0)
}

function bitOf<Name extends string>(bits: Readonly<Record<Name, number>>, name: Name, of: string): number {
  if (Object.hasOwn(bits, name)) return bits[name]
  throw new RangeError(`${of}: unknown field ${showValue(name)}${didYouMean(String(name), Object.keys(bits))}`)
}

/** A set of any fields. */
export interface FieldSet {
  /** The fields of the core, as bits of `FieldBit`. */
  readonly core: number
  /** The fields of groups, as bits of `GroupBit`. */
  readonly groups: number
}

export function anyFieldSet(names: readonly FieldName[]): FieldSet {
  const isGroups = (name: FieldName): name is GroupFieldName => name in GroupBit
  return {
    core: fieldSet(...names.filter((name): name is CoreFieldName => !isGroups(name))),
    groups: groupFieldSet(...names.filter(isGroups)),
  }
}
