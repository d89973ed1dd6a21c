import { HI, LO } from '../../bytes/u64.js'
import { U64Column, columnOf, type EventBatch } from '../../event/batch.js'
import { FIELDS, Has } from '../../event/fields.js'
import { stringifyFields, type FieldValue } from '../../event/json.js'
import { SECTION_KEY, type RecordMapping } from '../mapping.js'
import type { Field } from '../model.js'
import { getPair } from './program.js'
import type { RecordReader } from './read.js'
import type { RecordState } from './states.js'

/** Where a value goes. */
const Place = { nowhere: 0, wide: 1, u32: 2, i32: 3, bytes: 4, rest: 5 } as const
const { nowhere: NOWHERE, wide: WIDE, u32: U32, i32: I32, bytes: BYTES, rest: REST } = Place
const PLACES: Readonly<Record<string, number>> = {
  u64: WIDE,
  address: WIDE,
  u32: U32,
  i32: I32,
  string: BYTES,
  bytes: BYTES,
}

const HAS_OUTCOME = Has.outcome
const HAS_API = Has.api
const HAS_TYPE = Has.type
const HAS_CODE = Has.code
const HAS_FIELDS = Has.fields

/** The columns of fields that any record can have. */
const FIXED_COLUMNS = HAS_OUTCOME | HAS_API | HAS_TYPE | HAS_CODE

/** How records of one type become events, by the positions of their leaves. */
interface Recipe {
  readonly mapping: RecordMapping
  readonly place: Uint8Array
  readonly field: Int8Array
  /** 1 for leaves that an event does not have as long as no metadata was about them. */
  readonly silent: Uint8Array
  /** 1 for bytes that an event does not have if there are none. */
  readonly optional: Uint8Array
  /** Whether records of the type have something that only `fields` has a place for. */
  readonly hasRest: boolean
  /** The bytes whose lengths are other leaves, and by the same index these. */
  readonly measured: readonly number[]
  readonly lengths: readonly number[]
  /** The positions of the leaves that are numbers of repetitions. */
  readonly counts: ReadonlySet<number>
}

/** Turns records into events. */
export class EventBuilder {
  private readonly recipes: Recipe[] = []
  private batch: EventBatch | undefined
  /** The columns of the batch that were used, by field. */
  private columns: (Uint32Array | undefined)[] = []

  /** Adds the record that was read from `bytes` to a batch that has room. */
  add(mapping: RecordMapping, state: RecordState, reader: RecordReader, bytes: Uint8Array, batch: EventBatch): void {
    const { count, positions, words } = reader
    if (batch !== this.batch) {
      this.batch = batch
      this.columns = []
    }
    const recipe = (this.recipes[mapping.position] ??= recipeOf(mapping))
    const { place, field, silent, optional, hasRest, measured, lengths } = recipe
    const { strings } = batch
    const { touched } = state
    const row = batch.count
    let set = mapping.given
    let rest = hasRest
    for (let m = 0; m < measured.length; m++) rest ||= state.width[measured[m] as number] !== ~(lengths[m] as number)
    for (let k = 0; k < count; k++) {
      const p = positions[k] as number
      const where = place[p] as number
      if (where === NOWHERE || where === REST || (silent[p] === 1 && touched[p] === 0)) continue
      const f = field[p] as number
      const lo = words[2 * k + LO] as number
      const hi = words[2 * k + HI] as number
      if ((where === U32 && hi !== 0) || (where === I32 && hi !== ((lo | 0) >> 31) >>> 0)) {
        rest = true
        continue
      }
      if (where === BYTES && lo === hi && optional[p] === 1) continue
      const column = this.columns[f] ?? this.column(batch, f)
      set |= 1 << f
      if (where === WIDE) {
        column[2 * row + LO] = lo
        column[2 * row + HI] = hi
      } else {
        column[row] = where === BYTES ? strings.intern(bytes, lo, hi) : lo
      }
    }
    if (rest) {
      const object = new RestReader(recipe, state, count, positions, words, bytes).read()
      if (Object.keys(object).length > 0) {
        set |= HAS_FIELDS
        if ((batch.columns & HAS_FIELDS) === 0) batch.addColumns(HAS_FIELDS)
        batch.fields[row] = strings.internText(stringifyFields(object))
      }
    }
    if (mapping.given !== 0) this.give(mapping, batch, row)
    batch.kind[row] = mapping.kind
    batch.mask[row] = set
    batch.count = row + 1
  }

  private column(batch: EventBatch, f: number): Uint32Array {
    batch.addColumns(1 << f)
    const column = batch[columnOf(f)]
    let words: Uint32Array
    if (column instanceof U64Column) words = column.words
    // Signed numbers are written as bits: what does not fit was sorted out before.
    else if (column instanceof Int32Array) words = new Uint32Array(column.buffer, column.byteOffset, column.length)
    else words = column as Uint32Array
    return (this.columns[f] = words)
  }

  private give({ given, outcome, api, record }: RecordMapping, batch: EventBatch, row: number): void {
    if ((batch.columns & given & FIXED_COLUMNS) !== (given & FIXED_COLUMNS)) batch.addColumns(given & FIXED_COLUMNS)
    if ((given & HAS_OUTCOME) !== 0) batch.outcome[row] = outcome
    if ((given & HAS_API) !== 0) batch.api[row] = api
    if ((given & HAS_TYPE) !== 0) batch.type[row] = batch.strings.internText(record.name)
    if ((given & HAS_CODE) !== 0) batch.code[row] = record.tag as number
  }
}

function recipeOf(mapping: RecordMapping): Recipe {
  const { leaves, record, section } = mapping
  const place = Uint8Array.from(leaves, ({ field, type, role }) => {
    if (field >= 0) return PLACES[type as string] as number
    return role === 'value' ? REST : NOWHERE
  })
  const measured = record.leaves.filter(({ type, width }) => type === 'bytes' && width?.kind === 'reference')
  return {
    mapping,
    place,
    field: Int8Array.from(leaves, ({ field }) => field),
    silent: Uint8Array.from(leaves, ({ silent }) => Number(silent)),
    optional: Uint8Array.from(leaves, (leaf) => Number(isOptional(leaf))),
    hasRest: section !== null || place.includes(REST) || record.fields.some(isRepeated),
    measured: measured.map(({ position }) => position),
    lengths: measured.map(({ width }) => (width?.kind === 'reference' ? width.position : -1)),
    counts: new Set(countsIn(record.fields)),
  }
}

/**
 * Whether a field that a leaf is mapped to is absent if there are no bytes. The text of a comment is there if it is
 * empty.
 */
export function isOptional({ field, type }: { field: number; type: string | null }): boolean {
  return field >= 0 && (type === 'bytes' || type === 'string') && FIELDS[field]?.name !== 'text'
}

/** The positions of the leaves that are numbers of repetitions. */
function countsIn(fields: readonly Field[]): number[] {
  return fields.flatMap((field) => {
    if (field.kind === 'leaf') return []
    return field.kind === 'repetition' ? [field.count, ...countsIn([field.field])] : countsIn(field.fields)
  })
}

function isRepeated(field: Field): boolean {
  return field.kind === 'repetition' || (field.kind === 'composite' && field.fields.some(isRepeated))
}

type Values = Record<string, FieldValue>

/** Makes the value of `fields`: what a record has and its event has no other place for. */
class RestReader {
  private k = 0
  /** For each leaf, the number of its latest value. */
  private readonly latest: Int32Array

  private readonly mapping: RecordMapping

  constructor(
    private readonly recipe: Recipe,
    private readonly state: RecordState,
    private readonly count: number,
    private readonly positions: Int32Array,
    private readonly words: Uint32Array,
    private readonly bytes: Uint8Array,
  ) {
    this.mapping = recipe.mapping
    this.latest = new Int32Array(recipe.place.length)
  }

  read(): Values {
    const { record, section } = this.mapping
    const entries: [string, FieldValue][] = section === null ? [] : [[SECTION_KEY, section]]
    this.fields(record.fields, entries)
    return Object.fromEntries(entries)
  }

  /** Adds what belongs to one object. */
  private fields(fields: readonly Field[], entries: [string, FieldValue][]): void {
    const { keys } = this.mapping
    for (const field of fields) {
      const key = keys.get(field) ?? ''
      if (field.kind === 'leaf') {
        const k = this.next(field.position)
        if (key !== '' && this.isWanted(field.position, k)) entries.push([key, this.value(k)])
      } else if (field.kind === 'composite' && key === '') {
        this.fields(field.fields, entries)
      } else if (field.kind === 'composite') {
        const object = this.object(field.fields)
        if (Object.keys(object).length > 0) entries.push([key, object])
      } else {
        entries.push([key, this.list(field)])
      }
    }
  }

  private object(fields: readonly Field[]): Values {
    const entries: [string, FieldValue][] = []
    this.fields(fields, entries)
    return Object.fromEntries(entries)
  }

  private list({ count, field }: Field & { kind: 'repetition' }): FieldValue[] {
    const length = Number(getPair(this.words, this.latest[count] as number))
    return Array.from({ length }, () => {
      if (field.kind === 'composite') return this.object(field.fields)
      if (field.kind === 'repetition') return this.list(field)
      return this.value(this.next(field.position))
    })
  }

  /** The number of the next value, which is that of leaf p. */
  private next(p: number): number {
    return (this.latest[p] = this.k++)
  }

  private value(k: number): FieldValue {
    const { words, bytes, positions } = this
    if (this.state.program.isBytes[positions[k] as number] === 0) return getPair(words, k)
    return Buffer.from(bytes.buffer, bytes.byteOffset + this.start(k), this.end(k) - this.start(k)).toString('base64')
  }

  /** Whether value k, of leaf p, belongs into `fields`. */
  private isWanted(p: number, k: number): boolean {
    const { field, type, role, silent } = this.mapping.leaves[p] as RecordMapping['leaves'][number]
    if (silent && this.state.touched[p] === 0) return false
    if (role === 'counted') return this.disagrees(p, k)
    if (field < 0) return role === 'value'
    const lo = this.words[2 * k + LO] as number
    const hi = this.words[2 * k + HI] as number
    return (type === 'u32' && hi !== 0) || (type === 'i32' && hi !== ((lo | 0) >> 31) >>> 0)
  }

  /**
   * Whether the length k, of leaf p, is not that of bytes that it should be of: metadata has given these another width.
   * The lengths of lists are always right.
   */
  private disagrees(p: number, k: number): boolean {
    const { measured, lengths, counts } = this.recipe
    const m = lengths.indexOf(p)
    const bytes = measured[m] ?? -1
    if (m < 0 || counts.has(p) || this.state.width[bytes] === ~p) return false
    const length = getPair(this.words, k)
    for (let j = k + 1; j < this.count; j++) {
      if (this.positions[j] === p) return false
      if (this.positions[j] === bytes && length !== BigInt(this.end(j) - this.start(j))) return true
    }
    return false
  }

  /** Where bytes j begin and end. */
  private start(j: number): number {
    return this.words[2 * j + LO] as number
  }

  private end(j: number): number {
    return this.words[2 * j + HI] as number
  }
}
