import type { StringTable } from '../../event/strings.js'
import type { TableColumn } from '../../event/table.js'
import { ParquetFault, ParquetLimit } from './fault.js'
import { HybridReader } from './hybrid-read.js'
import type { Chunk } from './index-read.js'
import { inflate } from './inflate.js'
import { Encoding, MAX_HELD, PageKind } from './layout.js'
import type { PageHead } from './page-head.js'
import type { ColumnShape } from './schema-read.js'

/** The most rows that a column reads ahead. */
export const AHEAD = 4096

/** The memory that the columns of a file share, in bytes. */
export interface Held {
  bytes: number
}

export interface DataPage {
  readonly head: PageHead
  readonly repetition: HybridReader
  readonly definition: HybridReader
  /** The values, without levels. */
  readonly values: Uint8Array
}

const NO_LEVELS = new HybridReader(new Uint8Array(0), 0)

/**
 * Reads a column of a file, some rows ahead. The caller asks with `fill` whether it needs a page, and gives it the next
 * one. Rows `head` to `tail` are then there. Faults are thrown when all rows before them were taken.
 */
export abstract class ColumnReader {
  /** Which rows have a value. Its length is the number of rows that can be read ahead. */
  has = new Uint8Array(0)
  head = 0
  tail = 0
  /** The number of rows of the row group that were not read yet. */
  protected rows = 0
  /** The number of values that were not read yet, in the current page and in the row group after it. */
  protected left = 0
  protected later = 0
  protected page: DataPage | undefined
  private isFilled = false
  private fault: ParquetFault | undefined
  private codec = 0
  private held = 0

  constructor(
    readonly column: TableColumn,
    protected readonly shape: ColumnShape,
    private readonly shared: Held,
  ) {}

  /** Begins a row group. @throws ParquetFault when the column cannot have its rows */
  begin(chunk: Chunk, rows: number): void {
    const { values } = chunk
    if (this.shape.repetition === 0 ? values !== rows : !(values >= rows))
      throw new ParquetFault(`${values} values in a row group of ${rows} rows`)
    this.codec = chunk.codec
    const ahead = Math.min(AHEAD, rows)
    if (ahead > this.has.length) this.has = new Uint8Array(ahead)
    this.rows = rows
    this.later = values
    this.left = 0
    this.page = undefined
    this.setDictionary(undefined, 0)
  }

  /** Reads rows ahead, unless there are some. @returns whether it needs another page. @throws ParquetFault */
  fill(): boolean {
    if (this.head < this.tail && this.isFilled) return false
    if (this.head === this.tail) {
      if (this.fault !== undefined) throw this.fault
      if (this.rows === 0 && !this.hasOpenRow) return false
      this.head = this.tail = 0
      this.isFilled = false
      this.drop()
    }
    try {
      while (!this.isFull) {
        if (this.left === 0) {
          if (this.later > 0) return true
          this.endGroup()
          break
        }
        this.decode()
      }
    } catch (error) {
      this.fail(error)
    }
    this.isFilled = true
    return false
  }

  /**
   * Takes the next page.
   * @param bytes as they are stored
   * @throws ParquetFault when there is no row before it; otherwise the fault follows these
   */
  take(head: PageHead, bytes: Uint8Array): void {
    try {
      this.takePage(head, bytes)
    } catch (error) {
      this.fail(error)
    }
  }

  /** Notes a fault after the rows that were read. @throws the fault when no row was read */
  fail(error: unknown): void {
    if (!(error instanceof ParquetFault) || this.tail === this.head) throw error
    this.fault = error
    this.isFilled = true
  }

  /** Reduces a number of rows to those whose texts fit into a batch, and adds these to its table. */
  abstract prepare(table: StringTable, rows: number): number

  /** Copies the next rows to a column of a batch. */
  abstract copy(target: Uint8Array | Uint32Array | Int32Array, rows: number): void

  /** Uses the dictionary of the row group, of `count` values; undefined for none. */
  protected abstract setDictionary(bytes: Uint8Array | undefined, count: number): void

  protected abstract beginPage(page: DataPage): void

  /** Reads some values of the page, at least one. */
  protected abstract decode(): void

  /** The approximate memory, without the page. */
  protected abstract get memory(): number

  /** Whether enough rows were read ahead. */
  protected get isFull(): boolean {
    return this.tail === this.has.length || this.rows === 0
  }

  /** Whether the last row may continue in a later page. */
  protected get hasOpenRow(): boolean {
    return false
  }

  /** Called when all rows that were read ahead have been taken. */
  protected drop(): void {}

  /** Called after the last page. */
  protected endGroup(): void {
    throw new ParquetFault('fewer rows than its row group')
  }

  private takePage(head: PageHead, bytes: Uint8Array): void {
    const { kind, inflated, values } = head
    if (kind === PageKind.index) return
    if (!(values >= 0)) throw new ParquetFault('a page has no number of values')
    this.shared.bytes -= this.held
    this.held = inflated + this.memory
    this.shared.bytes += this.held
    if (inflated > MAX_HELD || this.shared.bytes > MAX_HELD)
      throw new ParquetLimit(`pages of more than ${MAX_HELD} bytes in all`)
    if (kind === PageKind.dictionary) {
      if (this.page !== undefined) throw new ParquetFault('a dictionary after the data')
      if (head.encoding !== Encoding.plain && head.encoding !== Encoding.plainDictionary)
        throw new ParquetFault(`a dictionary with the unknown encoding ${head.encoding}`)
      this.setDictionary(inflate(bytes, this.codec, inflated), values)
      return
    }
    if (kind !== PageKind.data && kind !== PageKind.dataV2) throw new ParquetFault(`an unknown kind of page, ${kind}`)
    if (values > this.later) throw new ParquetFault('a page has more values than its column')
    this.page = kind === PageKind.data ? this.firstVersion(head, bytes) : this.secondVersion(head, bytes)
    this.later -= values
    this.left = values
    this.beginPage(this.page)
  }

  private firstVersion(head: PageHead, bytes: Uint8Array): DataPage {
    const data = inflate(bytes, this.codec, head.inflated)
    const view = new DataView(data.buffer, data.byteOffset, data.length)
    let at = 0
    const levels = (most: number): HybridReader => {
      if (most === 0) return NO_LEVELS
      if (head.levels.some((encoding) => encoding !== Encoding.rle))
        throw new ParquetFault('a page has levels with an unknown encoding')
      const length = at + 4 <= data.length ? view.getUint32(at, true) : Infinity
      if (at + 4 + length > data.length) throw new ParquetFault('the levels of a page are longer than the page')
      at += 4 + length
      return levelReader(data.subarray(at - length, at), most)
    }
    const repetition = levels(this.shape.repetition)
    const definition = levels(this.shape.definition)
    return { head, repetition, definition, values: data.subarray(at) }
  }

  private secondVersion(head: PageHead, bytes: Uint8Array): DataPage {
    const middle = head.repetitionBytes
    const end = middle + head.definitionBytes
    const rest = bytes.subarray(end)
    const length = head.inflated - end
    const values = head.isCompressed && rest.length > 0 ? inflate(rest, this.codec, length) : rest
    return {
      head,
      repetition: levelReader(bytes.subarray(0, middle), this.shape.repetition),
      definition: levelReader(bytes.subarray(middle, end), this.shape.definition),
      values,
    }
  }
}

function levelReader(bytes: Uint8Array, most: number): HybridReader {
  return most === 0 ? NO_LEVELS : new HybridReader(bytes, 32 - Math.clz32(most))
}
