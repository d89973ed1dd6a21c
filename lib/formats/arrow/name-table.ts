import { StringTable, type FlatStrings } from '../../event/strings.js'
import { joined } from './dictionaries.js'
import type { Strings } from './escape.js'

/**
 * Collects the strings of a record batch: dictionaries, and the texts of columns without one. If one dictionary has all
 * of them, they are not copied, and batches that need no lists share one table.
 */
export class NameTable {
  private parts: Strings[] = []
  private bases: number[] = []
  private size = 0
  private last: { readonly of: Strings; readonly table: StringTable } | undefined

  /** Begins another record batch. */
  begin(): void {
    this.parts = []
    this.bases = []
    this.size = 0
  }

  /** Adds strings, unless they are already there. @returns the id of the first one */
  add(strings: Strings): number {
    const known = this.parts.indexOf(strings)
    if (known >= 0) return this.bases[known]
    const base = this.size
    this.parts.push(strings)
    this.bases.push(base)
    this.size += strings.starts.length - 1
    return base
  }

  /** The string with an id. */
  bytes(id: number): Uint8Array {
    let part = this.parts.length - 1
    while (this.bases[part] > id) part--
    const { bytes, starts } = this.parts[part]
    const i = id - this.bases[part]
    return bytes.subarray(starts[i], starts[i + 1])
  }

  /** The table of all strings, with these lists of them if there are any. @throws ArrowLimit when they are too long */
  table(lists: Pick<FlatStrings, 'lists' | 'listed'> | undefined): StringTable {
    if (this.parts.length === 0 && lists === undefined) return new StringTable()
    const strings = this.parts.length === 1 ? this.parts[0] : joined(this.parts)
    if (lists !== undefined) return StringTable.of({ ...strings, ...lists })
    if (this.last?.of !== strings) this.last = { of: strings, table: StringTable.of(strings) }
    return this.last.table
  }
}
