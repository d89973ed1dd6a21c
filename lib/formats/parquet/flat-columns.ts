import { HI, LO } from '../../bytes/u64.js'
import type { StringTable } from '../../event/strings.js'
import { ColumnReader, type DataPage } from './column-reader.js'
import { ParquetFault } from './fault.js'
import { IndexedInts, Indices, intSource, type IntSource } from './int-source.js'
import { Encoding } from './layout.js'
import { TextPages } from './text-pages.js'

/** Reads a column with at most one value in each row. */
export abstract class FlatColumn extends ColumnReader {
  protected decode(): void {
    const page = this.page as DataPage
    const { has, tail: at } = this
    let rows = Math.min(this.left, has.length - at, this.rows)
    this.left -= rows
    this.rows -= rows
    let fault: ParquetFault | undefined
    /** Calls a function that may throw a fault. @returns the number of values before it */
    const good = (all: number, read: () => void): number => {
      try {
        read()
        return all
      } catch (error) {
        if (!(error instanceof ParquetFault)) throw error
        fault = error
        return error.good
      }
    }
    let count = rows
    if (this.shape.definition === 0) has.fill(1, at, at + rows)
    else {
      rows = good(rows, () => page.definition.read(has, at, rows))
      count = 0
      for (let i = at; i < at + rows; i++) count += has[i]
    }
    const read = count === 0 ? 0 : good(count, () => this.read(at, count))
    // The row of the first missing value.
    if (read < count) {
      let seen = 0
      rows = 0
      while (seen + has[at + rows] <= read) seen += has[at + rows++]
    }
    if (read < rows) this.spread(at, rows, read)
    rows = good(rows, () => this.check(at, rows))
    this.tail += rows
    if (fault !== undefined) throw fault
  }

  /** Reads values to position `at` and the following ones. */
  protected abstract read(at: number, count: number): void

  /** Moves `count` values that begin at position `at` to their rows; the other rows get 0. */
  protected abstract spread(at: number, rows: number, count: number): void

  /** Checks the values of rows. @throws ParquetFault */
  protected check(_at: number, _rows: number): void {}
}

/** Reads a column of integers. */
export class IntColumn extends FlatColumn {
  /** The values of rows. Most columns of most files have none, and then no memory for them. */
  private words = new Uint32Array(0)
  private dictionary: Uint32Array | undefined
  private source: IntSource | undefined

  prepare(_table: StringTable, rows: number): number {
    return rows
  }

  copy(target: Uint8Array | Uint32Array | Int32Array, rows: number): void {
    const { words, head } = this
    if (this.column.type === 'u64') target.set(words.subarray(2 * head, 2 * (head + rows)))
    else for (let i = 0; i < rows; i++) target[i] = words[2 * (head + i) + LO]
  }

  protected get memory(): number {
    return this.dictionary?.byteLength ?? 0
  }

  protected setDictionary(bytes: Uint8Array | undefined, count: number): void {
    this.dictionary = undefined
    if (bytes === undefined) return
    const { physical, isUnsigned } = this.shape
    if (4 * count > bytes.length) throw new ParquetFault('a dictionary has fewer values than it says')
    const words = new Uint32Array(2 * count)
    intSource(bytes, Encoding.plain, physical as number, isUnsigned).read(words, 0, count)
    this.dictionary = words
  }

  protected beginPage({ head: { encoding }, values }: DataPage): void {
    const { physical, isUnsigned } = this.shape
    const isIndexed = encoding === Encoding.rleDictionary || encoding === Encoding.plainDictionary
    const { dictionary } = this
    if (isIndexed && dictionary === undefined) throw new ParquetFault('a dictionary is missing')
    this.source =
      isIndexed && dictionary !== undefined
        ? new IndexedInts(new Indices(values, dictionary.length / 2), dictionary)
        : undefined
    // A page with nulls alone may have no data.
    this.source ??= values.length === 0 ? NO_INTS : intSource(values, encoding, physical as number, isUnsigned)
  }

  protected read(at: number, count: number): void {
    if (this.words.length < 2 * this.has.length) this.words = new Uint32Array(2 * this.has.length)
    ;(this.source as IntSource).read(this.words, at, count)
  }

  protected spread(at: number, rows: number, count: number): void {
    const { words, has } = this
    for (let i = at + rows - 1, from = at + count - 1; from < i; i--) {
      const isThere = has[i] !== 0
      words[2 * i] = isThere ? words[2 * from] : 0
      words[2 * i + 1] = isThere ? words[2 * from + 1] : 0
      if (isThere) from--
    }
  }

  protected override check(at: number, rows: number): void {
    const { type } = this.column
    if (type === 'u64') return
    const { words, has } = this
    for (let i = at; i < at + rows; i++) {
      const high = type === 'i32' ? (words[2 * i + LO] >> 31) >>> 0 : 0
      if (words[2 * i + HI] !== high && has[i] !== 0) throw new ParquetFault('an integer is out of range').after(i - at)
    }
  }
}

const NO_INTS: IntSource = {
  read() {
    throw new ParquetFault('a page has fewer values than it says')
  },
}

/** Reads a column of strings, bytes, or names of codes. */
export class TextColumn extends FlatColumn {
  private ids = new Uint32Array(0)
  /** The ids of the rows in the table of the batch. */
  private own = new Uint32Array(0)
  private readonly texts = new TextPages(this.column)

  prepare(table: StringTable, rows: number): number {
    const { head, has, ids, own, texts } = this
    if (this.column.type === 'code') return rows
    for (let i = 0; i < rows; i++) {
      own[i] = 0
      if (has[head + i] === 0) continue
      own[i] = texts.store.idIn(table, ids[head + i])
      if (texts.isFull(table)) return i + 1
    }
    return rows
  }

  copy(target: Uint8Array | Uint32Array | Int32Array, rows: number): void {
    const { head, ids, texts, own, has } = this
    if (this.column.type !== 'code') target.set(own.subarray(0, rows))
    else for (let i = 0; i < rows; i++) target[i] = has[head + i] === 0 ? 0 : texts.code(ids[head + i])
  }

  protected get memory(): number {
    return this.texts.store.memory
  }

  protected override get isFull(): boolean {
    return super.isFull || (this.left === 0 && this.tail > 0 && this.texts.isLong)
  }

  protected setDictionary(bytes: Uint8Array | undefined, count: number): void {
    this.texts.setDictionary(bytes, count)
  }

  protected beginPage({ head, values }: DataPage): void {
    this.texts.begin(values, head.encoding, head.values)
  }

  protected override drop(): void {
    if (this.left === 0) this.texts.keep(new Uint32Array(0))
  }

  protected read(at: number, count: number): void {
    if (this.ids.length < this.has.length) {
      this.ids = new Uint32Array(this.has.length)
      this.own = new Uint32Array(this.has.length)
    }
    this.texts.read(this.ids, at, count)
  }

  protected spread(at: number, rows: number, count: number): void {
    const { ids, has } = this
    for (let i = at + rows - 1, from = at + count - 1; from < i; i--) ids[i] = has[i] === 0 ? 0 : ids[from--]
  }

  protected override check(at: number, rows: number): void {
    const { ids, has, texts } = this
    if (!texts.mayFault) return
    for (let i = at; i < at + rows; i++) {
      const fault = has[i] === 0 ? undefined : texts.faultOf(ids[i])
      if (fault !== undefined) throw new ParquetFault(fault).after(i - at)
    }
  }
}
