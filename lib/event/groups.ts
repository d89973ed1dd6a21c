import { checkText, i32Value, u64Value } from './field-value.js'
import * as Fields from './fields.js'
import { U64Column } from './storage.js'
import type { StringTable } from './strings.js'

/** A column of a field of a group: 64-bit integers, or 32-bit ones or ids of strings. */
export type GroupColumn = U64Column | Uint32Array | Int32Array

/** The set of the fields of groups that refer to the string table of the batch. */
export const GROUP_STRINGS = setOf('string')
/** The set of those with 64-bit columns. */
export const GROUP_WIDE = setOf('u64', 'address')

function setOf(...types: string[]): number {
  return Fields.GROUP_FIELDS.reduce(
    (set, { name, type }) => (types.includes(type) ? set | Fields.GroupBit[name] : set),
    0,
  )
}

/** The positions of the fields in a set, ascending. */
export function positions(set: number): number[] {
  const found: number[] = []
  for (let left = set; left !== 0; left &= left - 1) found.push(31 - Math.clz32(left & -left))
  return found
}

/**
 * The fields of groups that events of a batch have, in columns like the core's: bit `GroupBit.weight` of `mask[i]` says
 * whether event i has a weight. Most batches have no such fields, and then `EventBatch.groups` is undefined. It does
 * not change after its batch was handed on; batches may share it.
 */
export class GroupColumns {
  /** The set of fields that have storage. */
  columns = 0
  /** Per event, the set of its fields. */
  readonly mask: Uint32Array
  private readonly stored: (GroupColumn | undefined)[] = []

  /**
   * @param capacity the maximum number of events
   * @param mask their masks; all empty by default
   */
  constructor(
    readonly capacity: number,
    mask = new Uint32Array(capacity),
  ) {
    this.mask = mask
  }

  /** The 64-bit column of a field that some event may have. */
  wide(name: Fields.GroupFieldName): U64Column | undefined {
    const column = this.stored[positionOf(name)]
    return column instanceof U64Column ? column : undefined
  }

  /** The column of a field that has storage, by its position in `GROUP_FIELDS`. */
  at(g: number): GroupColumn {
    return this.stored[g] as GroupColumn
  }

  /** The column of a field, which is cleared if it had no storage yet. */
  add(g: number): GroupColumn {
    return (this.stored[g] ??= this.set(g, newColumn(g, this.capacity)))
  }

  /** Gives a field a column that holds its values. */
  set(g: number, column: GroupColumn): GroupColumn {
    this.columns |= 1 << g
    this.stored[g] = column
    return column
  }

  /** The set of fields that some of the first `count` events have. */
  used(count = this.capacity): number {
    let some = 0
    for (let i = 0; i < count; i++) some |= this.mask[i]
    return some
  }

  /** Puts the fields of an event into an object. */
  read(i: number, event: Record<string, unknown>, strings: StringTable): void {
    for (const g of positions(this.mask[i])) {
      const { name, type } = Fields.GROUP_FIELDS[g]
      const column = this.at(g)
      if (column instanceof U64Column) event[name] = column.values[i]
      else event[name] = type === 'string' ? strings.text(column[i]) : column[i]
    }
  }

  /**
   * Stores a value of an event, whose mask remains as it is.
   * @throws RangeError when it does not fit, TypeError when it is of the wrong type
   */
  store(i: number, g: number, value: unknown, strings: StringTable): void {
    const { name, type } = Fields.GROUP_FIELDS[g] as { name: Fields.GroupFieldName; type: Fields.GroupFieldType }
    const column = this.add(g)
    if (column instanceof U64Column) column.values[i] = u64Value(name, value)
    else if (type === 'string') {
      checkText(name, type, value)
      column[i] = strings.internText(value as string)
    } else column[i] = i32Value(name, value, type === 'i32')
  }

  /** Gives the first `count` events the value of a field that event 0 of others has. */
  fill(g: number, value: GroupColumns, source: StringTable, strings: StringTable, count: number): void {
    const from = value.at(g)
    const to = newColumn(g, this.capacity)
    for (let i = 0; i < count; i++) this.mask[i] = this.mask[i] | (1 << g)
    this.set(g, to)
    if (to instanceof U64Column) to.values.fill((from as U64Column).values[0], 0, count)
    else if ((GROUP_STRINGS >>> g) & 1) to.fill(strings.intern(source.view((from as Uint32Array)[0])), 0, count)
    else to.fill((from as Int32Array)[0], 0, count)
  }

  /**
   * The events `rows[0..n)`, in that order.
   * @param fields the fields to copy; by default all
   * @returns undefined if none of them has any
   */
  select(rows: ArrayLike<number>, n: number, fields = Fields.ALL_GROUP_FIELDS): GroupColumns | undefined {
    const target = new GroupColumns(n)
    let some = 0
    for (let j = 0; j < n; j++) some |= target.mask[j] = this.mask[rows[j] as number] & fields
    if (some === 0) return undefined
    for (const g of positions(some)) {
      const from = this.at(g)
      const to = target.add(g)
      for (let j = 0; j < n; j++) copyValue(from, rows[j], to, j)
    }
    return target
  }

  /** The same events without the fields of a set. */
  without(fields: number, count: number): GroupColumns | undefined {
    const kept = new GroupColumns(count)
    let some = 0
    for (let i = 0; i < count; i++) some |= kept.mask[i] = this.mask[i] & ~fields
    for (const g of positions(some)) kept.set(g, this.at(g))
    return some === 0 ? undefined : kept
  }

  /** The events `from` to `to`. @returns undefined if none of them has any field */
  slice(from: number, to: number): GroupColumns | undefined {
    return this.select(
      Int32Array.from({ length: to - from }, (_, j) => from + j),
      to - from,
    )
  }

  /**
   * A copy whose strings are in another table, each added to it when first needed.
   * @param replace gives the id in the other table
   */
  translated(source: StringTable, target: StringTable, count: number, replace: Replace = intern): GroupColumns {
    const copy = new GroupColumns(count)
    copy.mask.set(this.mask.subarray(0, count))
    for (const g of positions(this.columns)) {
      const from = this.at(g)
      if (((GROUP_STRINGS >>> g) & 1) === 0) {
        copy.set(g, from)
        continue
      }
      const to = copy.add(g) as Uint32Array
      const ids = new Map<number, number>()
      for (let i = 0; i < count; i++) {
        if (((this.mask[i] >>> g) & 1) === 0) continue
        const id = (from as Uint32Array)[i]
        let known = ids.get(id)
        if (known === undefined) ids.set(id, (known = replace(Fields.GROUP_FIELDS[g]?.name, source, id, target)))
        to[i] = known
      }
    }
    return copy
  }
}

type Replace = (field: Fields.GroupFieldName, source: StringTable, id: number, target: StringTable) => number

function intern(_field: Fields.GroupFieldName, source: StringTable, id: number, target: StringTable): number {
  return target.intern(source.view(id))
}

/** A set of fields with the others of their groups: an event that has one of them mostly has all. */
export function wholeGroups(fields: number): number {
  return Object.values(Fields.GROUPS)
    .map((names: readonly Fields.FieldName[]) => Fields.anyFieldSet(names).groups)
    .reduce((all, group) => ((group & fields) === 0 ? all : all | group), fields)
}

/** The position of a field in `GROUP_FIELDS`. */
export function positionOf(name: Fields.GroupFieldName): number {
  return 31 - Math.clz32(Fields.GroupBit[name])
}

/** A column of a field without values. */
export function newColumn(g: number, length: number): GroupColumn {
  if ((GROUP_WIDE >>> g) & 1) return new U64Column(new ArrayBuffer(8 * length), 0, length)
  return Fields.GROUP_FIELDS[g]?.type === 'i32' ? new Int32Array(length) : new Uint32Array(length)
}

function copyValue(from: GroupColumn, i: number, to: GroupColumn, j: number): void {
  if (from instanceof U64Column) {
    const { words } = to as U64Column
    words[2 * j] = from.words[2 * i]
    words[2 * j + 1] = from.words[2 * i + 1]
  } else (to as Uint32Array)[j] = from[i]
}
