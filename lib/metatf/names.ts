import type { ApiName, FieldName, KindName, OutcomeName } from '../event/fields.js'
import type { TimeUnit, TraceHeader } from '../event/header.js'
import type { Dtd } from './model.js'

/** The meaning of a record type's name for its events. */
export interface Meaning {
  readonly kind: KindName
  readonly outcome?: OutcomeName
  readonly api?: ApiName
}

/** The names of record types that are events of the model. Names are compared without case, `_` and `-`. */
const RECORD_NAMES: readonly (Meaning & { readonly names: string })[] = [
  { kind: 'alloc', names: 'alloc allocate allocation' },
  { kind: 'alloc', api: 'malloc', names: 'malloc' },
  { kind: 'alloc', api: 'calloc', names: 'calloc' },
  { kind: 'alloc', api: 'memalign', names: 'memalign' },
  { kind: 'alloc', api: 'new', names: 'new' },
  { kind: 'alloc', api: 'kmalloc', names: 'kmalloc' },
  { kind: 'alloc', api: 'kmem_cache_alloc', names: 'kmemCacheAlloc' },
  { kind: 'alloc', api: 'pages', names: 'allocPages' },
  { kind: 'free', names: 'free dealloc deallocate deallocation' },
  { kind: 'free', api: 'delete', names: 'delete' },
  { kind: 'free', api: 'kfree', names: 'kfree' },
  { kind: 'free', api: 'kmem_cache_free', names: 'kmemCacheFree' },
  { kind: 'free', api: 'pages', names: 'freePages' },
  { kind: 'realloc', names: 'realloc reallocate reallocation' },
  { kind: 'realloc', outcome: 'none', names: 'reallocNoAlloc reallocNone' },
  { kind: 'realloc', outcome: 'moved', names: 'reallocAllocFree reallocMoved' },
  { kind: 'realloc', outcome: 'allocated', names: 'reallocAlloc reallocAllocated' },
  { kind: 'realloc', outcome: 'freed', names: 'reallocFree reallocFreed' },
  { kind: 'existing', names: 'existing' },
  { kind: 'reserve', names: 'reserve' },
  { kind: 'heap-create', names: 'createHeap heapCreate' },
  { kind: 'heap-destroy', names: 'destroyHeap heapDestroy' },
  { kind: 'thread-create', names: 'createThread threadCreate' },
  { kind: 'thread-destroy', names: 'destroyThread threadDestroy' },
  { kind: 'comment', names: 'comment remark' },
  { kind: 'lost', names: 'lost lostEvents' },
]

/** The names of record fields that are fields of events; fields missing here have only the model's own name. */
const FIELD_NAMES: Readonly<Partial<Record<FieldName, string>>> = {
  process: 'process processId pid',
  thread: 'thread threadId tid',
  cpu: 'cpu',
  node: 'node',
  sequence: 'sequence seq',
  time: 'time timestamp',
  endTime: 'endTime',
  heap: 'heap heapId',
  index: 'index',
  address: 'address addr pointer ptr new newAddress newAddr newPointer newPtr',
  oldAddress: 'oldAddress oldAddr oldPointer oldPtr old',
  size: 'size bytes',
  count: 'count nmemb',
  elementSize: 'elementSize',
  alignment: 'alignment align',
  usable: 'usable',
  present: 'present',
  gfpFlags: 'gfpFlags',
  callSite: 'callSite caller',
  function: 'function func',
  file: 'file fileName',
  line: 'line lineNumber',
  type: 'type typeName',
  text: 'text',
  attributes: 'attributes vfield',
}

/**
 * The names for an unspecified address: a realloc has the old one first, then the new one. Other names in `FIELD_NAMES`
 * are specific.
 */
const PLAIN_ADDRESSES = table([['address', 'address addr pointer ptr']])

/**
 * Each kind of event needs at least one of these fields; a record without any is not such an event, regardless of its
 * name.
 */
export const ESSENTIAL: Readonly<Partial<Record<KindName, readonly FieldName[]>>> = {
  alloc: ['address', 'size', 'index'],
  existing: ['address', 'size', 'index'],
  reserve: ['address', 'size'],
  free: ['address', 'index'],
  realloc: ['address', 'oldAddress', 'index'],
  comment: ['text'],
}

const RECORDS: ReadonlyMap<string, Meaning> = table(RECORD_NAMES.map((row) => [row, row.names]))
const FIELDS: ReadonlyMap<string, FieldName> = table(
  Object.entries(FIELD_NAMES).map(([field, names]) => [field as FieldName, names]),
)

/** The meaning of a record type's name, or undefined if it is not an event of the model. */
export function meaningOf(record: string): Meaning | undefined {
  return RECORDS.get(plain(record))
}

/** The field of events that this name in a record refers to, or undefined if there is none. */
export function fieldNamed(name: string): FieldName | undefined {
  return FIELDS.get(plain(name))
}

/** Whether a field of this name is an address that is old or new only by its position in a realloc. */
export function isPlainAddress(name: string): boolean {
  return PLAIN_ADDRESSES.has(plain(name))
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '')
}

function table<Value>(rows: readonly (readonly [Value, string])[]): ReadonlyMap<string, Value> {
  return new Map(rows.flatMap(([value, names]) => names.split(' ').map((name) => [plain(name), value] as const)))
}

/**
 * The unit of times in the traces of a DTD, if a line `## TimeUnit: ns`, or `us`, at its beginning says so: an addition
 * of this project, because the language has no such thing.
 */
export function timeUnitOf({ headers }: Dtd): Pick<TraceHeader, 'timeUnit'> {
  const found = headers.find(({ key }) => key.toLowerCase() === 'timeunit')?.value
  return found === 'ns' || found === 'us' ? { timeUnit: found satisfies TimeUnit } : {}
}

/**
 * Returns the first free name of `name`, `name_2`, `name_3` ... and marks it as taken.
 *
 * @param taken the names that are taken, each with the last number that was tried after it, so that many equal names
 *   take no longer
 * @param separator the text between name and number
 */
export function takeName(name: string, taken: Map<string, number>, separator: string): string {
  const last = taken.get(name)
  if (last === undefined) {
    taken.set(name, 1)
    return name
  }
  let n = last + 1
  while (taken.has(`${name}${separator}${n}`)) n++
  const free = `${name}${separator}${n}`
  taken.set(name, n)
  taken.set(free, 1)
  return free
}
