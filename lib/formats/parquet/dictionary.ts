import { StringTable } from '../../event/strings.js'
import { escape } from '../arrow/escape.js'

const NO_IDS = new Int32Array(0)

/** The distinct strings of a column in a row group. */
export class ColumnDictionary {
  private names = new StringTable()
  /** The table of the last batch and, by its ids, the indices here, or -1. */
  private table: StringTable | undefined
  private ids = NO_IDS

  /** The number of strings. */
  get size(): number {
    return this.names.size
  }

  /** The bytes that they take. */
  get byteLength(): number {
    return this.names.byteLength
  }

  /** Begins with the strings of another batch. */
  use(table: StringTable): void {
    if (table === this.table && table.size <= this.ids.length) return
    this.table = table
    if (this.ids.length < table.size || this.ids.length > 4 * table.size + 4096) this.ids = new Int32Array(table.size)
    this.ids.fill(-1)
  }

  /** The index of a string of the batch. */
  index(id: number): number {
    const known = this.ids[id]
    if (known >= 0) return known
    const index = this.names.intern((this.table as StringTable).view(id))
    this.ids[id] = index
    return index
  }

  /** Removes all strings, and gives them as Parquet stores them: each after its length. */
  take(): Uint8Array {
    const out = plainStrings(escape(this.names.flat()))
    this.names = new StringTable()
    this.table = undefined
    return out
  }
}

/** Strings, each after its length. */
export function plainStrings({ bytes, starts }: { bytes: Uint8Array; starts: Uint32Array }): Uint8Array {
  const count = starts.length - 1
  const out = new Uint8Array(bytes.length + 4 * count)
  const view = new DataView(out.buffer)
  for (let i = 0, at = 0; i < count; i++) {
    const from = starts[i]
    const to = starts[i + 1]
    view.setUint32(at, to - from, true)
    out.set(bytes.subarray(from, to), at + 4)
    at += 4 + to - from
  }
  return out
}
