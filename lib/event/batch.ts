import { eventForJson } from './event-json.js'
import * as Fields from './fields.js'
import { checkEvent, checkText, codeValue, fieldsText, i32Value, u64Value } from './field-value.js'
import { GroupColumns } from './groups.js'
import { NO_HEADER, type TraceHeader } from './header.js'
import { parseJson } from './json.js'
import { columnOf, placeColumns, Storage, U64Column, type Column, type ColumnName } from './storage.js'
import { wrongType } from './error.js'
import { showValue } from './message-text.js'
import { StringTable } from './strings.js'
import { BATCH_EVENTS } from './limits.js'
import { didYouMean } from './suggest.js'
import type { TraceEvent } from './trace-event.js'

export { BATCH_EVENTS, BATCH_STRING_BYTES } from './limits.js'
export { columnOf, U64Column, U64_FIELDS, type ColumnName } from './storage.js'
export type { TraceEvent } from './trace-event.js'

const NO_U64 = new U64Column(new ArrayBuffer(0), 0, 0)
const NO_U32 = new Uint32Array(0)
const NO_I32 = new Int32Array(0)
const NO_U8 = new Uint8Array(0)

/**
 * Marks batches, so that batches of another copy of this package are recognized. The number identifies the layout of
 * columns: a copy with other fields has another one.
 */
const BRAND = Symbol.for('heapflow.EventBatch/1')

/** Whether a value is a batch of events, made by this copy of the package or by another one. */
export function isEventBatch(value: unknown): value is EventBatch {
  return typeof value === 'object' && value !== null && BRAND in value
}

/** The number of events of a batch that `console.log` shows. */
const SHOWN = 3

/**
 * The infos of events in a trace that does not say which block is freed: an info is a size and a stack that blocks
 * share. Only the first allocation with an info has its size and stack as fields.
 */
export interface BatchInfos {
  /** Per event, the number of its info, from 1; 0 for events that are about no block. A free is of a live block. */
  readonly numbers: Uint32Array
  /** All numbers in the trace so far are at most this. */
  readonly most: number
}

/**
 * Up to some thousand events in columns: the unit of work of every stage. Column `address` holds the addresses of all
 * events of the batch, and so on; bit `FieldBit.address` of `mask[i]` says whether event i has an address. (Absent is
 * not zero: the column may then hold any value.) Only the columns in the set `columns` have storage; check `mask`
 * before reading one. The fields of groups, which few batches have, are in `groups`.
 *
 * A batch is filled by the stage that created it, and never changes after it was passed on. Iterating over it gives
 * plain `TraceEvent` objects, which is convenient and slow.
 */
export class EventBatch implements Iterable<TraceEvent> {
  /** The number of events. */
  count = 0
  /** The set of fields that have storage. */
  columns = 0
  /** Per event, the set of its fields. */
  readonly mask: Uint32Array
  /** Per event, its kind: an index into `KINDS`. */
  readonly kind: Uint8Array

  api = NO_U8
  process = NO_U64
  thread = NO_U64
  cpu = NO_I32
  node = NO_I32
  sequence = NO_I32
  time = NO_U64
  endTime = NO_U64
  heap = NO_U64
  index = NO_U64
  address = NO_U64
  oldAddress = NO_U64
  size = NO_U64
  elementSize = NO_U64
  alignment = NO_U64
  usable = NO_U64
  present = NO_U64
  gfpFlags = NO_U32
  callSite = NO_U64
  outcome = NO_U8
  function = NO_U32
  file = NO_U32
  line = NO_U32
  type = NO_U32
  stack = NO_U32
  text = NO_U32
  attributes = NO_U32
  code = NO_U32
  fields = NO_U32
  module = NO_U32
  /** calloc's number of elements; `size` is the product. */
  elements = NO_U64

  /** The fields of groups; undefined if no event has one. */
  groups: GroupColumns | undefined

  /** The infos that blocks share, if the consumer requested them in place of addresses (see `Stage.countsInfos`). */
  infos: BatchInfos | undefined

  /** The memory of the masks, kinds and initial columns, unless other batches share some of it. */
  private storage: Storage | undefined

  /**
   * @param capacity the maximum number of events
   * @param columns the set of fields with initial storage
   * @param header the header of the trace that the events belong to
   * @param strings the string table that string columns refer to; a new table unless one is shared
   * @param storage its memory
   */
  constructor(
    readonly capacity: number,
    columns: number,
    readonly header: TraceHeader,
    readonly strings: StringTable = new StringTable(),
    storage = Storage.cleared(capacity, columns),
  ) {
    this.storage = storage
    this.mask = storage.mask
    this.kind = storage.kind
    this.columns = columns
    const target: Record<string, unknown> = this as object as Record<string, unknown>
    for (const { name, column } of storage.columns) target[name] = column
  }

  /** A batch for `count` events, or slightly more, whose storage is not cleared, so that all of it must be written. */
  static unfilled(count: number, columns: number, header: TraceHeader, strings?: StringTable): EventBatch {
    const storage = Storage.uncleared(count, columns)
    return new EventBatch(storage.capacity, columns, header, strings, storage)
  }

  /**
   * Returns the storage for later batches. Only the last consumer of a batch may call this. Reusing storage roughly
   * halves decoding time. The batch then has no events and no columns; typed arrays taken from it before will belong to
   * another batch.
   */
  recycle(): void {
    const { storage } = this
    if (storage === undefined) return
    this.storage = undefined
    this.infos = undefined
    this.groups = undefined
    this.count = 0
    this.columns = 0
    const target: Record<string, unknown> = this as object as Record<string, unknown>
    target['mask'] = NO_U32
    target['kind'] = NO_U8
    for (const { name } of storage.columns) target[name] = NO_COLUMNS[name]
    storage.recycle()
  }

  /** Notes that other batches share its columns, so that `recycle` has no effect. */
  keep(): void {
    this.storage = undefined
  }

  /** Gives storage to the fields of a set that have none yet. Typed arrays taken from the batch before stay valid. */
  addColumns(set: number): void {
    set &= ~this.columns
    if (set === 0) return
    this.columns |= set
    const target: Record<string, unknown> = this as object as Record<string, unknown>
    for (const { name, column } of placeColumns(set, this.capacity)) target[name] = column
  }

  /** The 64-bit column of a field of type `u64` or `address`. */
  u64(field: U64FieldName): U64Column {
    return field === 'count' ? this.elements : this[field]
  }

  get [BRAND](): true {
    return true
  }

  /**
   * Event i as an object with its fields. It inherits a `toJSON`, so `JSON.stringify` writes it as in NDJSON. A copy
   * such as `{ ...event }` does not; use `eventToJson` for it.
   */
  event(i: number): TraceEvent {
    const mask = this.mask[i]
    const event = Object.create(EVENT) as Record<string, unknown>
    event['kind'] = Fields.KINDS[this.kind[i]]
    for (let f = 0; f < Fields.FIELDS.length; f++)
      if ((mask >>> f) & 1) event[(Fields.FIELDS[f] as { name: string }).name] = this.value(i, f)
    this.groups?.read(i, event, this.strings)
    return event as unknown as TraceEvent
  }

  *[Symbol.iterator](): Iterator<TraceEvent> {
    for (let i = 0; i < this.count; i++) yield this.event(i)
  }

  /** The text that `console.log` shows: a summary, and the first events. */
  [Symbol.for('nodejs.util.inspect.custom')](
    _depth: number,
    options: object,
    inspect: (value: unknown, options: object) => string,
  ): string {
    const { format, timeUnit } = this.header
    const fields = [...Fields.fieldNames(this.columns), ...Fields.groupFieldNames(this.groups?.columns ?? 0)]
    const first = Array.from({ length: Math.min(SHOWN, this.count) }, (_, i) => this.event(i))
    const summary = { format, ...(timeUnit && { timeUnit }), fields: fields.join(' '), first }
    return `EventBatch(${this.count}) ${inspect(summary, options)}`
  }

  /**
   * Adds an event, and allocates the columns that it needs.
   * @throws RangeError when the batch is full, the event has an unknown field, or a value does not fit
   * @throws TypeError (code ERR_INVALID_ARG_TYPE) when a value is of the wrong type
   */
  push(event: TraceEvent): void {
    const i = this.count
    if (i >= this.mask.length) throw new RangeError(`the batch is full: ${this.mask.length} events`)
    checkEvent(event)
    const kind = codeValue('kind', Fields.KINDS, event.kind)
    let mask = 0
    let fields = 0
    let hasKind = false
    for (const name in event) {
      if (name === 'kind') {
        hasKind = true
        continue
      }
      const f = FIELD_OF.get(name)
      if (f === undefined) throw new RangeError(`unknown field ${showValue(name)}${didYouMean(name, FIELD_OF.keys())}`)
      const value = event[name as Fields.FieldName]
      if (value === undefined) continue
      if (f >= Fields.FIELDS.length) {
        const groups = (this.groups ??= new GroupColumns(this.mask.length))
        fields |= 1 << (f - Fields.FIELDS.length)
        groups.store(i, f - Fields.FIELDS.length, value, this.strings)
        continue
      }
      this.addColumns(1 << f)
      this.store(i, f, value)
      mask |= 1 << f
    }
    // Accessors of a class are not enumerated: all fields would be lost.
    if (!hasKind) throw wrongType(`not an event: the properties of ${showValue(event)} are not enumerable`)
    // An event that does not fit may have left something here before this one.
    if (this.groups !== undefined) this.groups.mask[i] = fields
    this.kind[i] = kind
    this.mask[i] = mask
    this.count = i + 1
  }

  private value(i: number, f: number): unknown {
    const { name, type } = Fields.FIELDS[f]
    switch (type) {
      case 'u64':
      case 'address':
        return this.u64(name).values[i]
      case 'api':
        return Fields.APIS[this.api[i]]
      case 'outcome':
        return Fields.OUTCOMES[this.outcome[i]]
      case 'string':
        return this.strings.text(this[name][i])
      case 'list':
        return this.strings.list(this.stack[i]).map((id) => this.strings.text(id))
      case 'bytes':
        return this.strings.view(this.attributes[i]).slice()
      case 'json':
        return parseJson(this.strings.text(this.fields[i]))
      default:
        return this[name][i]
    }
  }

  private store(i: number, f: number, value: unknown): void {
    const { name, type } = Fields.FIELDS[f]
    switch (type) {
      case 'u64':
      case 'address':
        this.u64(name).values[i] = u64Value(name, value)
        break
      case 'api':
        this.api[i] = codeValue(type, Fields.APIS, value)
        break
      case 'outcome':
        this.outcome[i] = codeValue(type, Fields.OUTCOMES, value)
        break
      case 'string':
        checkText(name, type, value)
        this[name][i] = this.strings.internText(value as string)
        break
      case 'list':
        checkText(name, type, value)
        this.stack[i] = this.strings.addList((value as string[]).map((frame) => this.strings.internText(frame)))
        break
      case 'bytes':
        checkText(name, type, value)
        this.attributes[i] = this.strings.intern(value as Uint8Array)
        break
      case 'json':
        this.fields[i] = this.strings.internText(fieldsText(name, value))
        break
      default:
        this[name][i] = i32Value(name, value, type === 'i32')
    }
  }
}

/** A field whose column is a `U64Column`. */
export type U64FieldName = Extract<(typeof Fields.FIELDS)[number], { type: 'u64' | 'address' }>['name']

/** Each field's position among all fields: fields of groups come after the core. */
const FIELD_OF: ReadonlyMap<string, number> = new Map(Fields.EVERY_FIELD.map(({ name }, f) => [name, f]))

/** The prototype of events. An own property would cost more than all of their fields. */
const EVENT: object = Object.create(Object.prototype, {
  toJSON: {
    value(this: TraceEvent) {
      return eventForJson(this)
    },
  },
}) as object

/** The columns of a batch without events. */
const NO_COLUMNS = Object.fromEntries(
  placeColumns(Fields.ALL_FIELDS, 0).map(({ name, column }) => [name, column]),
) as Readonly<Record<ColumnName, Column>>

/**
 * A batch of the same events, to be revised: it has its own kinds and masks, and its own columns of the set `fresh`,
 * which must be filled. It shares the other columns with `source`, which must not be changed.
 * @param strings the string table of the new batch; with another one than the source's, string columns belong in
 *   `fresh`
 * @param header by default the source's
 * @param groups the fields of groups; null for none. By default the source's, whose strings are added to another string
 *   table
 */
export function reviseBatch(
  source: EventBatch,
  fresh: number,
  strings: StringTable = source.strings,
  header: TraceHeader = source.header,
  groups: GroupColumns | null | undefined = strings === source.strings
    ? source.groups
    : source.groups?.translated(source.strings, strings, source.count),
): EventBatch {
  const { count } = source
  source.keep()
  const target = new EventBatch(count, fresh, header, strings)
  target.kind.set(source.kind.subarray(0, count))
  target.mask.set(source.mask.subarray(0, count))
  const shared = source.columns & ~fresh
  for (let f = 0; f < Fields.FIELDS.length; f++) {
    if (((shared >>> f) & 1) === 0) continue
    const column = columnOf(f)
    const columns = target as unknown as Record<string, unknown>
    columns[column] = source[column]
  }
  target.columns |= shared
  target.infos = source.infos
  target.groups = groups ?? undefined
  target.count = count
  return target
}

/**
 * All events as batches of at most `BATCH_EVENTS`, in memory. For many events, see `fromEvents`.
 * @param header the header of the trace; empty by default
 * @throws what `EventBatch.push` throws
 */
export function batchesOf(events: Iterable<TraceEvent>, header: TraceHeader = NO_HEADER): EventBatch[] {
  const batches = [new EventBatch(BATCH_EVENTS, 0, header)]
  for (const event of events) {
    let batch = batches[batches.length - 1]
    if (batch.count === batch.capacity) batches.push((batch = new EventBatch(BATCH_EVENTS, batch.columns, header)))
    batch.push(event)
  }
  return batches
}
