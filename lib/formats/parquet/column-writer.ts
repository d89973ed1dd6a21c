import { HI, LO } from '../../bytes/u64.js'
import { U64Column } from '../../event/batch.js'
import { ColumnDictionary, plainStrings } from './dictionary.js'
import { Growing } from './growing.js'
import { Encoding, Physical } from './layout.js'
import { hybrid, levels } from './levels.js'
import { stringsOf } from '../arrow/escape.js'
import { encodeText } from '../../event/strings.js'
import { GROUPED, masksOf, type TableColumn, type TableRows } from '../../event/table.js'

/** The stored form of a column of a row group, not yet compressed. */
export interface ColumnPages {
  /** The strings to which the data refer by index, and their number. */
  readonly dictionary?: { readonly bytes: Uint8Array; readonly count: number }
  readonly data: Uint8Array
  readonly encoding: number
  /** The number of values, including nulls and empty lists. */
  readonly count: number
  readonly nulls: number
  /** The smallest and the largest integer. */
  readonly range?: readonly [least: Uint8Array, most: Uint8Array]
}

/** The levels of a list: none, an empty one, and one with items. */
const [NO_LIST, EMPTY_LIST, LISTED] = [0, 1, 2]

/** Collects the values of a column in a row group. */
export class ColumnWriter {
  private readonly dictionary = new ColumnDictionary()
  /** For each row or list item, its level. */
  private readonly definition = new Growing(new Uint8Array(0))
  /** For each item of a list, whether it continues one. */
  private readonly repetition = new Growing(new Uint8Array(0))
  /** Integers, indices, or, if they take a byte, values. */
  private readonly words = new Growing(new Uint32Array(0))
  private readonly bytes = new Growing(new Uint8Array(0))
  private nulls = 0

  constructor(private readonly column: TableColumn) {}

  /** The approximate memory use in bytes. */
  get memory(): number {
    return (
      this.definition.length +
      this.repetition.length +
      4 * this.words.length +
      this.bytes.length +
      this.dictionary.byteLength
    )
  }

  /** Adds rows without a value. */
  addAbsent(count: number): void {
    // Memory is cleared when it is allocated, but is reused for several row groups.
    const at = this.definition.extend(count)
    this.definition.items.fill(0, at, at + count)
    if (this.column.type === 'names') {
      const from = this.repetition.extend(count)
      this.repetition.items.fill(0, from, from + count)
    }
    this.nulls += count
  }

  /** @param some the columns with a value in some row @param grouped the same for the fields of groups */
  add(rows: TableRows, some: number, grouped: number): void {
    const { f, type } = this.column
    const { count } = rows
    if (f >= 0 && (((f < GROUPED ? some : grouped) >>> f) & 1) === 0) return this.addAbsent(count)
    if (type === 'names') return this.addLists(rows)
    const mask = masksOf(rows, this.column)
    const bit = f < 0 ? 0 : 1 << f
    let present = count
    if (bit !== 0) {
      let at = this.definition.extend(count)
      const { items: bytes } = this.definition
      for (let i = 0; i < count; i++) {
        const has = (mask[i] & bit) === 0 ? 0 : 1
        bytes[at++] = has
        present -= 1 - has
      }
      this.nulls += count - present
    }
    this.addValues(rows, mask, present, bit)
  }

  private addValues(rows: TableRows, mask: Uint32Array, present: number, bit: number): void {
    const { count, strings } = rows
    const values = rows.values(this.column)
    const has = (i: number) => bit === 0 || (mask[i] & bit) !== 0
    if (values instanceof U64Column) {
      let at = this.words.extend(2 * present)
      const { items: words } = this.words
      if (present === count) words.set(values.words.subarray(0, 2 * count), at)
      else {
        for (let i = 0; i < count; i++) {
          if ((mask[i] & bit) === 0) continue
          words[at++] = values.words[2 * i]
          words[at++] = values.words[2 * i + 1]
        }
      }
    } else if (this.column.type === 'bytes') {
      for (let i = 0; i < count; i++) {
        if (!has(i)) continue
        const bytes = strings.view(values[i])
        const at = this.bytes.extend(4 + bytes.length)
        this.bytes.items.set(plainStrings({ bytes, starts: Uint32Array.of(0, bytes.length) }), at)
      }
    } else {
      let at = this.words.extend(present)
      const { items: words } = this.words
      if (this.column.type === 'name') {
        const { dictionary } = this
        dictionary.use(strings)
        for (let i = 0; i < count; i++) if (has(i)) words[at++] = dictionary.index(values[i])
      } else {
        for (let i = 0; i < count; i++) if (has(i)) words[at++] = values[i]
      }
    }
  }

  private addLists(rows: TableRows): void {
    const { count, mask, strings } = rows
    const { lists, listed } = strings.flat()
    const values = rows.values(this.column) as Uint32Array
    const bit = 1 << this.column.f
    const { definition, repetition, dictionary } = this
    dictionary.use(strings)
    for (let i = 0; i < count; i++) {
      const has = (mask[i] & bit) !== 0
      const list = values[i]
      const from = has ? lists[list] : 0
      const to = has ? lists[list + 1] : 0
      const items = Math.max(1, to - from)
      const at = definition.extend(items)
      repetition.extend(items)
      definition.items.fill(to > from ? LISTED : has ? EMPTY_LIST : NO_LIST, at, at + items)
      repetition.items.fill(1, at, at + items)
      repetition.items[at] = 0
      let word = this.words.extend(to - from)
      for (let item = from; item < to; item++) this.words.items[word++] = dictionary.index(listed[item])
      if (to === from) this.nulls++
    }
  }

  /** Ends the row group, and gives its rows in stored form. @param rows the number of rows */
  take(rows: number): ColumnPages {
    const { column, nulls, dictionary } = this
    const isList = column.type === 'names'
    const count = isList ? this.definition.length : rows
    const hasValues = nulls < count
    const names = column.names === undefined ? undefined : plainStrings(stringsOf(column.names.map(encodeText)))
    const entries = column.names?.length ?? dictionary.size
    const isIndexed = hasValues && (column.type === 'name' || isList || names !== undefined)
    const parts = [
      ...(isList ? [levels(this.repetition.used, 1)] : []),
      ...(column.f < 0 ? [] : [levels(this.definition.used, isList ? 2 : 1)]),
      ...(isIndexed ? indices(this.words.used, entries) : [this.plain()]),
    ]
    const range = hasValues ? rangeOf(column, this.words.used) : undefined
    const pages: ColumnPages = {
      ...(isIndexed && { dictionary: { bytes: names ?? dictionary.take(), count: entries } }),
      data: new Uint8Array(Buffer.concat(parts)),
      encoding: isIndexed ? Encoding.rleDictionary : Encoding.plain,
      count,
      nulls,
      ...(range && { range }),
    }
    for (const part of [this.definition, this.repetition, this.words, this.bytes]) part.length = 0
    this.nulls = 0
    return pages
  }

  private plain(): Uint8Array {
    const { type } = this.column
    if (type === 'bytes') return this.bytes.used
    const { used } = this.words
    return new Uint8Array(used.buffer, used.byteOffset, used.byteLength)
  }
}

/** The type in which the values of a column are stored. */
export function physicalType({ type }: TableColumn): number {
  if (type === 'u64') return Physical.int64
  return type === 'u32' || type === 'i32' ? Physical.int32 : Physical.byteArray
}

/** Indices, after the number of bits of each. */
function indices(used: Uint32Array, entries: number): Uint8Array[] {
  const width = Math.max(1, 32 - Math.clz32(entries - 1))
  return [Uint8Array.of(width), hybrid(used, width)]
}

function rangeOf({ type }: TableColumn, words: Uint32Array): readonly [Uint8Array, Uint8Array] | undefined {
  if (type === 'u64') {
    let [leastHigh, leastLow, mostHigh, mostLow] = [0xffff_ffff, 0xffff_ffff, 0, 0]
    for (let i = 0; i < words.length; i += 2) {
      const low = words[i + LO]
      const high = words[i + HI]
      if (high < leastHigh || (high === leastHigh && low < leastLow)) [leastHigh, leastLow] = [high, low]
      if (high > mostHigh || (high === mostHigh && low > mostLow)) [mostHigh, mostLow] = [high, low]
    }
    return [bytesOf(leastLow, leastHigh), bytesOf(mostLow, mostHigh)]
  }
  if (type !== 'u32' && type !== 'i32') return undefined
  const values = type === 'i32' ? new Int32Array(words.buffer, words.byteOffset, words.length) : words
  let [least, most] = [values[0], values[0]]
  for (const value of values) {
    if (value < least) least = value
    if (value > most) most = value
  }
  return [bytesOf(least), bytesOf(most)]
}

function bytesOf(...words: number[]): Uint8Array {
  const out = new Uint8Array(4 * words.length)
  const view = new DataView(out.buffer)
  words.forEach((word, i) => view.setUint32(4 * i, word, true))
  return out
}
