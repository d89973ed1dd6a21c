import { ArrowFault, ArrowLimit } from './fault.js'
import type { FlatReader } from './flatbuffer-read.js'
import { Inflater } from './inflate.js'
import { Compression, MAX_ROWS, RecordBatch, Type } from './layout.js'
import type { Column } from './schema.js'

/** The number of rows of a column, and the number of null ones. */
export interface Node {
  readonly rows: number
  readonly nulls: number
}

/** The numbers of nodes and buffers of a column and its children. */
export interface Extent {
  readonly nodes: number
  readonly buffers: number
}

/** The extent of a column; undefined if each record batch says how many buffers it has. */
export function extentOf({ type, dictionary, buffers, children }: Column): Extent | undefined {
  const extent = { nodes: 1, buffers }
  if (dictionary !== undefined) return extent
  if (type === Type.binaryView || type === Type.utf8View) return undefined
  for (const child of children) {
    const more = extentOf(child)
    if (more === undefined) return undefined
    extent.nodes += more.nodes
    extent.buffers += more.buffers
  }
  return extent
}

/** The parts of a record batch, or of a dictionary, in the order of its columns. */
export class Parts {
  readonly rows: number
  private readonly nodes: Float64Array
  private readonly buffers: Float64Array
  private readonly counts: Float64Array
  private readonly inflater: Inflater | undefined
  private node = 0
  private buffer = 0
  private count = 0

  /** @throws ArrowFault, ArrowLimit, and RangeError when the flatbuffer is damaged */
  constructor(
    batch: FlatReader,
    private readonly body: Uint8Array<ArrayBuffer>,
  ) {
    this.rows = batch.i64(RecordBatch.length)
    if (this.rows < 0) throw new ArrowFault('a negative number of rows')
    if (this.rows > MAX_ROWS) throw new ArrowLimit(`a record batch of more than ${MAX_ROWS} rows`)
    this.nodes = batch.integers(RecordBatch.nodes, 2)
    this.buffers = batch.integers(RecordBatch.buffers, 2)
    this.counts = batch.integers(RecordBatch.variadicCounts, 1)
    const compression = batch.table(RecordBatch.compression)
    this.inflater = compression && new Inflater(compression.i8(Compression.codec))
  }

  /** The node of the next column. */
  nextNode(): Node {
    const rows = this.nodes[2 * this.node]
    const nulls = this.nodes[2 * this.node + 1]
    this.node++
    if (rows === undefined || nulls === undefined)
      throw new ArrowFault('a record batch has fewer columns than its schema')
    if (rows < 0 || rows > MAX_ROWS || nulls < 0 || nulls > rows)
      throw new ArrowFault('a column with a wrong number of rows')
    return { rows, nulls }
  }

  /** Passes over a column if no row has a value. @returns whether it did */
  passEmpty({ nodes, buffers }: Extent): boolean {
    const at = 2 * this.node
    if (this.nodes[at] !== this.rows || this.nodes[at + 1] !== this.rows) return false
    this.node += nodes
    this.buffer += buffers
    return true
  }

  /** The next buffer, inflated; it may not be aligned. */
  nextBuffer(): Uint8Array<ArrayBuffer> {
    const from = this.buffers[2 * this.buffer]
    const length = this.buffers[2 * this.buffer + 1]
    this.buffer++
    if (from === undefined || length === undefined)
      throw new ArrowFault('a record batch has fewer buffers than its schema')
    if (from < 0 || length < 0 || from + length > this.body.length)
      throw new ArrowFault('a buffer is outside of its body')
    const bytes = this.body.subarray(from, from + length)
    return this.inflater === undefined ? bytes : (this.inflater.inflate(bytes) as Uint8Array<ArrayBuffer>)
  }

  /** The number of buffers with the texts of a view that follow. */
  nextCount(): number {
    const count = this.counts[this.count++]
    if (count === undefined || count < 0 || count > this.buffers.length)
      throw new ArrowFault('a wrong number of buffers')
    return count
  }

  /** Passes over a column. */
  skip(column: Column): void {
    this.node++
    this.skipBuffers(column)
  }

  /** Skips a column whose node was read. */
  skipBuffers({ type, dictionary, buffers, children }: Column): void {
    this.buffer += buffers
    if (dictionary !== undefined) return
    if (type === Type.binaryView || type === Type.utf8View) this.buffer += this.nextCount()
    for (const child of children) this.skip(child)
  }
}
