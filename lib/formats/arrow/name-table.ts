import { StringTable, type FlatStrings } from '../../event/strings.js'
import { joined } from './dictionaries.js'
import type { Strings } from './escape.js'

/**
 * Collects the strings of a record batch: dictionaries, and the texts of columns without one. If one dictionary has all
 * of them, they are not copied. Batches with the strings of the batch before use its copy of them, and, if they need no
 * lists, its table.
 */
export class NameTable {
  private parts: Strings[] = []
  private bases: number[] = []
  private size = 0
  private last: { readonly of: readonly Strings[]; readonly strings: Strings; table?: StringTable } | undefined

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

  bytes(id: number): Uint8Array {
    let part = this.parts.length - 1
    while (this.bases[part] > id) part--
    const { bytes, starts } = this.parts[part]
    const i = id - this.bases[part]
    return bytes.subarray(starts[i], starts[i + 1])
  }

  /** The table of all strings, with these lists of them if there are any. @throws ArrowLimit when they are too long */
  table(lists: Pick<FlatStrings, 'lists' | 'listed'> | undefined): StringTable {
    const { parts } = this
    if (parts.length === 0 && lists === undefined) return new StringTable()
    let { last } = this
    if (last?.of.length !== parts.length || parts.some((part, i) => part !== last?.of[i]))
      this.last = last = { of: parts, strings: parts.length === 1 ? parts[0] : joined(parts) }
    if (lists !== undefined) return StringTable.of({ ...last.strings, ...lists })
    return (last.table ??= StringTable.of(last.strings))
  }
}
