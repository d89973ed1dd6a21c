import * as EventFields from '../event/fields.js'
import { wrongType } from '../event/error.js'
import type { Carried } from '../event/losses.js'
import { showValue } from '../event/message-text.js'
import type { Composite, Dtd, Field, Leaf, RecordType } from './model.js'
import { ESSENTIAL, fieldNamed, isPlainAddress, meaningOf, takeName } from './names.js'

/** The mapping of a DTD's records to events, and of their fields to fields of events. README.md has the rules. */
export interface Mapping {
  /**
   * The record types whose records are events, in the order of the DTD: those with a tag that are data or comments,
   * except the elements of tables that `sectionStride` takes values from.
   */
  readonly records: readonly RecordMapping[]
  /** The same by record type. */
  readonly of: ReadonlyMap<RecordType, RecordMapping>
  /** The fields that some record can represent, by kind of event. */
  readonly carried: Carried
  /** Kinds of event without a record of their own that have one of these kinds. */
  readonly writtenAs: Readonly<Partial<Record<EventFields.KindName, readonly EventFields.KindName[]>>>
}

/** The mapping of one record type. */
export interface RecordMapping {
  readonly record: RecordType
  /** Position in `Mapping.records`. */
  readonly position: number
  /** The kind of event: an index into `KINDS`. */
  readonly kind: number
  /** An index into `OUTCOMES`, or -1 for none. */
  readonly outcome: number
  /** An index into `APIS`, or -1 for none. */
  readonly api: number
  /**
   * The fields that the events have regardless of the record's contents: the set of `outcome`, `api`, `type` (the
   * record's name, of kind `other`) and `code` (its tag, where kind, outcome and api are not enough to identify the
   * record).
   */
  readonly given: number
  /** The name of the section, for the value `section` in `fields`, if not even the tag suffices; otherwise null. */
  readonly section: string | null
  /** By the leaves' positions. */
  readonly leaves: readonly LeafMapping[]
  /** The set of all fields that an event of this record can have: `given`, the fields of the leaves, and `fields`. */
  readonly carries: number
  /**
   * The set of the fields that the record always has, which are written as 0 or empty if an event lacks them. Fields of
   * 32 bits are not included, because the value may be in `fields`.
   */
  readonly needs: number
  /**
   * The names under which values stand in `fields`, by the part of the record (leaf, composite or repetition) and
   * unique in the object that they belong to. Tags and numbers of repetitions have none. A composite whose name is
   * empty is no object of its own: its parts belong to the object around it. The part that a repetition repeats
   * has no name: its values are the elements of the repetition's array.
   */
  readonly keys: ReadonlyMap<Field, string>
}

export interface LeafMapping {
  readonly leaf: Leaf
  /**
   * The field of the event, a position in `FIELDS`, or -1. A value that the field cannot hold (more than 32 bits for
   * one of these, or bytes for a number) goes into `fields`.
   */
  readonly field: number
  readonly type: EventFields.FieldType | null
  /**
   * How the value is determined without the event: `tag` and `fixed` values are constant, or equal another leaf's;
   * `counted` values are numbers of elements or bytes of other fields. They are not in `fields`, except a counted one
   * of bytes that does not agree with their number (metadata can do that).
   */
  readonly role: 'tag' | 'fixed' | 'counted' | 'value'
  /** The DTD gives it the default 0 or "", and the event does not have it unless metadata changes the leaf. */
  readonly silent: boolean
}

/** The name of the section in `fields`. */
export const SECTION_KEY = 'section'

const HAS_FIELDS = EventFields.FieldBit.fields

/** The mapping of a DTD, of either version. @throws TypeError for what is no DTD, such as the text of one */
export function mappingOf(dtd: Dtd): Mapping {
  if (!Array.isArray((dtd as Dtd | null | undefined)?.sections))
    throw wrongType(`a DTD is needed, as parseDtd() makes it, not ${showValue(dtd)}`)
  const taken = new Map<string, RecordType[]>()
  const tables = tablesOf(dtd)
  const elements = new Set(dtd.sections.filter(({ id }) => tables.has(id)).map(({ element }) => element?.record))
  const types = dtd.sections
    .flatMap(({ records }) => records)
    .filter((record) => record.tag !== null && (record.role === 'data' || record.role === 'comment'))
    .filter((record) => !elements.has(record))
  const plans = types.map((record) => planRecord(record))
  // Records are distinguished by kind, outcome and api, then by tag, and finally by section.
  const who = ({ record, meaning: { kind, outcome, api } }: Plan, more: boolean) =>
    [kind, outcome, api, ...(kind === 'other' ? [record.name] : []), ...(more ? [record.tag] : [])].join(' ')
  for (const plan of plans) {
    for (const more of [false, true]) {
      const same = taken.get(who(plan, more))
      if (same === undefined) taken.set(who(plan, more), [plan.record])
      else same.push(plan.record)
    }
  }
  const records = plans.map((plan, position) => {
    const isFirst = taken.get(who(plan, false))?.[0] === plan.record
    const clashes =
      (taken.get(who(plan, true)) as RecordType[]).length > 1 && (plan.meaning.kind === 'other' || !isFirst)
    const section = clashes ? (dtd.sections.find(({ id }) => id === plan.record.section)?.name as string) : null
    return recordMapping(plan, position, isFirst, section)
  })
  return { records, of: new Map(records.map((mapping) => [mapping.record, mapping])), ...carriedBy(records) }
}

interface Plan {
  record: RecordType
  meaning: { kind: EventFields.KindName; outcome?: string | undefined; api?: string | undefined }
  leaves: LeafMapping[]
}

/** The sections of which fields with sectionStride take elements. */
export function tablesOf({ sections }: Dtd): ReadonlySet<number> {
  const leaves = sections.flatMap(({ records }) => records).flatMap((record) => record.leaves)
  return new Set(leaves.flatMap(({ interpretation: how }) => (how.kind === 'sectionStride' ? [how.section] : [])))
}

function planRecord(record: RecordType): Plan {
  const meaning = record.role === 'comment' ? { kind: 'comment' as const } : meaningOf(record.name)
  if (meaning !== undefined) {
    const leaves = mapLeaves(record, meaning.kind)
    const essential = ESSENTIAL[meaning.kind]
    const has = (name: EventFields.FieldName) => leaves.some(({ field }) => EventFields.FIELDS[field]?.name === name)
    if (essential === undefined || essential.some(has)) return { record, meaning, leaves }
  }
  return { record, meaning: { kind: 'other' }, leaves: mapLeaves(record, 'other') }
}

/** The leaves of a record that occur once, each with the names that may identify its field. */
function namedLeaves(
  fields: readonly Field[],
  around: readonly string[] = [],
): { leaf: Leaf; names: readonly string[] }[] {
  return fields.flatMap((field) => {
    if (field.kind === 'repetition') return []
    if (field.kind === 'leaf') return [{ leaf: field, names: [...around, field.name] }]
    // `text : vfield` is a text, because the name inside is only `data`.
    return namedLeaves(field.fields, isOneValue(field) ? [field.name] : [])
  })
}

/** Whether a composite is a single value, with or without its length. */
function isOneValue({ name, fields }: Composite): boolean {
  const leaves = fields.filter(({ kind }) => kind === 'leaf') as Leaf[]
  const counts = lengthsIn(leaves)
  return (
    name !== '' &&
    leaves.length === fields.length &&
    leaves.filter(({ position }) => !counts.has(position)).length === 1
  )
}

/** The positions of the leaves that are the widths of others. */
function lengthsIn(leaves: readonly Leaf[]): ReadonlySet<number> {
  return new Set(leaves.map(({ width }) => (width?.kind === 'reference' ? width.position : -1)))
}

/**
 * The positions of the leaves that are numbers of elements of repetitions, or of bytes of other leaves, at the same
 * level. Inside a repetition, the counted fields may be missing, and then do not determine the number.
 */
function countedIn(fields: readonly Field[], what: 'elements' | 'bytes'): Set<number> {
  const counted = new Set<number>()
  const visit = (parts: readonly Field[], level: Set<number>) => {
    for (const part of parts) {
      if (part.kind === 'composite') visit(part.fields, level)
      if (part.kind === 'leaf') {
        level.add(part.position)
        const { width } = part
        // The value of a number does not show how many bytes it takes.
        if (what === 'bytes' && part.type === 'bytes' && width?.kind === 'reference' && level.has(width.position))
          counted.add(width.position)
      }
      if (part.kind === 'repetition') {
        if (what === 'elements' && level.has(part.count)) counted.add(part.count)
        visit([part.field], new Set())
      }
    }
  }
  visit(fields, new Set())
  return counted
}

function mapLeaves(record: RecordType, kind: EventFields.KindName): LeafMapping[] {
  const counted = new Set([...countedIn(record.fields, 'elements'), ...countedIn(record.fields, 'bytes')])
  const fields = new Map<Leaf, EventFields.FieldName>()
  if (kind !== 'other') {
    const taken = new Set<EventFields.FieldName>()
    const take = (leaf: Leaf, name: EventFields.FieldName) => {
      if (taken.has(name) || !agrees(leaf, name)) return
      taken.add(name)
      fields.set(leaf, name)
    }
    const named = namedLeaves(record.fields).filter(({ leaf }) => leaf.name !== 'tag' && !counted.has(leaf.position))
    const plain = new Set(
      named.filter(({ names }) => kind === 'realloc' && names.some(isPlainAddress)).map(({ leaf }) => leaf),
    )
    for (const { leaf, names } of named) {
      const name = names.map(fieldNamed).find((field) => field !== undefined)
      if (name !== undefined && !plain.has(leaf)) take(leaf, name)
    }
    // A realloc has the old address first. A single plain address is the new one, unless another field has a name for
    // it.
    const [first, second] = plain
    if (first !== undefined && (second !== undefined || taken.has('address'))) take(first, 'oldAddress')
    if (first !== undefined) take(second ?? first, 'address')
    // The text of a comment may have any name.
    const text =
      named.find(({ leaf }) => !fields.has(leaf) && agrees(leaf, 'text')) ??
      named.find(({ leaf }) => fields.get(leaf) === 'attributes')
    if (kind === 'comment' && text !== undefined) take(text.leaf, 'text')
  }
  return record.leaves.map((leaf) => {
    const own = fields.get(leaf)
    const field = own === undefined ? -1 : EventFields.FIELDS.findIndex(({ name }) => name === own)
    const role =
      leaf.name === 'tag' ? 'tag' : counted.has(leaf.position) ? 'counted' : leaf.value === null ? 'value' : 'fixed'
    return { leaf, field, type: EventFields.FIELDS[field]?.type ?? null, role, silent: isSilent(leaf) }
  })
}

/** Whether the DTD gives the leaf the default 0 or "". */
function isSilent({ interpretation }: Leaf): boolean {
  if (interpretation.kind !== 'default' || interpretation.value.kind === 'reference') return false
  return interpretation.value.kind === 'number' ? interpretation.value.value === 0n : interpretation.value.value === ''
}

const NUMBERS: readonly EventFields.FieldType[] = ['u64', 'address', 'u32', 'i32']
const TEXTS: readonly EventFields.FieldType[] = ['string', 'bytes']

function agrees(leaf: Leaf, name: EventFields.FieldName): boolean {
  const type = EventFields.FIELDS.find((field) => field.name === name)?.type as EventFields.FieldType
  return (leaf.type === 'int' ? NUMBERS : TEXTS).includes(type)
}

function recordMapping(plan: Plan, position: number, isFirst: boolean, section: string | null): RecordMapping {
  const { record, meaning, leaves } = plan
  const kind = EventFields.Kind[meaning.kind]
  const outcome = EventFields.OUTCOMES.findIndex((name) => name === meaning.outcome)
  const api = EventFields.APIS.findIndex((name) => name === meaning.api)
  const isOther = meaning.kind === 'other'
  const given =
    (outcome < 0 ? 0 : EventFields.FieldBit.outcome) |
    (api < 0 ? 0 : EventFields.FieldBit.api) |
    (isOther ? EventFields.FieldBit.type | EventFields.FieldBit.code : 0) |
    (isFirst ? 0 : EventFields.FieldBit.code)
  let carries = given
  let needs = 0
  for (const { field, silent, leaf, type } of leaves) {
    // 1.2 cannot represent a silent field; in 1.0 metadata makes it possible.
    if (field < 0 || (silent && leaf.width === null)) continue
    carries |= 1 << field
    if (!silent && type !== 'u32' && type !== 'i32') needs |= 1 << field
  }
  const mapping = {
    record,
    position,
    kind,
    outcome,
    api,
    given,
    section,
    leaves,
    needs,
    keys: keysOf(record, section !== null),
  }
  const hasRest =
    section !== null ||
    hasRepetition(record.fields) ||
    leaves.some(({ field, role, type }) => (field < 0 && role === 'value') || type === 'u32' || type === 'i32') ||
    // In 1.0 metadata can make any value too wide for its field.
    leaves.some(({ leaf, role }) => leaf.width !== null && role !== 'tag')
  return { ...mapping, carries: hasRest || isOther ? carries | HAS_FIELDS : carries }
}

/** Whether something among these fields is repeated. */
export function hasRepetition(fields: readonly Field[]): boolean {
  return fields.some(
    (field) => field.kind === 'repetition' || (field.kind === 'composite' && hasRepetition(field.fields)),
  )
}

/** The names in `fields` of all parts of a record. */
function keysOf(record: RecordType, withSection: boolean): ReadonlyMap<Field, string> {
  const keys = new Map<Field, string>()
  const lengths = countedIn(record.fields, 'bytes')
  const counts = new Set([...countedIn(record.fields, 'elements')].filter((position) => !lengths.has(position)))
  const visit = (fields: readonly Field[], taken: Map<string, number>) => {
    for (const field of fields) {
      if (field.kind === 'leaf') {
        if (field.name !== 'tag' && !counts.has(field.position)) keys.set(field, takeName(field.name, taken, '_'))
      } else if (field.kind === 'composite') {
        keys.set(field, field.name === '' ? '' : takeName(field.name, taken, '_'))
        visit(field.fields, field.name === '' ? taken : new Map())
      } else {
        const { field: element, count } = field
        // Elements without a name have the name of the field with their number, which is not in `fields`.
        const named = element.kind === 'repetition' || element.name === '' ? record.leaves[count] : element
        keys.set(field, takeName(named.name, taken, '_'))
        if (element.kind === 'composite') visit(element.fields, new Map())
        else if (element.kind === 'repetition') visit([element], new Map())
      }
    }
  }
  visit(record.fields, new Map(withSection ? [[SECTION_KEY, 1]] : []))
  return keys
}

/** The fields that a writer can represent, by kind; events of old blocks are written as allocations if necessary. */
function carriedBy(records: readonly RecordMapping[]): Pick<Mapping, 'carried' | 'writtenAs'> {
  const carried: Partial<Record<EventFields.KindName, number>> = {}
  for (const { kind, carries } of records) {
    const name = EventFields.KINDS[kind]
    carried[name] = (carried[name] ?? 0) | carries
  }
  if (carried.existing !== undefined || carried.alloc === undefined) return { carried, writtenAs: {} }
  return { carried: { ...carried, existing: carried.alloc }, writtenAs: { existing: ['alloc'] } }
}
