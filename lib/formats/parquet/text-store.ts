import type { StringTable } from '../../event/strings.js'
import type { Strings } from '../arrow/escape.js'
import { Growing } from './growing.js'

/**
 * The texts of a column, by their ids: first the dictionary's, then the texts of pages without a dictionary, until they
 * are no longer needed.
 */
export class TextStore {
  private readonly bytes = new Growing(new Uint8Array(0))
  /** The end of each text. */
  private readonly ends = new Growing(new Uint32Array(0))
  /** The number of texts of the dictionary, and their bytes. */
  private fixed = 0
  private fixedBytes = 0
  /** For each text, the last table that it was added to, and its id there. */
  private stamps = new Uint32Array(0)
  private ids = new Uint32Array(0)
  private stamp = 0
  private table: StringTable | undefined

  /** The number of texts. */
  get count(): number {
    return this.ends.length
  }

  /** Approximate memory, in bytes. */
  get memory(): number {
    return this.bytes.items.length + 4 * this.ends.items.length + 8 * this.stamps.length
  }

  /** The bytes of the texts that are not in the dictionary. */
  get looseBytes(): number {
    return this.bytes.length - this.fixedBytes
  }

  /** Begins again with the texts of a dictionary. */
  begin(dictionary: Strings | undefined): void {
    this.bytes.length = this.ends.length = this.fixed = this.fixedBytes = 0
    if (dictionary !== undefined) this.append(dictionary)
    this.fixed = this.count
    this.fixedBytes = this.bytes.length
  }

  /** Adds texts. @returns the id of the first one */
  append({ bytes, starts }: Strings): number {
    const first = this.count
    const count = starts.length - 1
    const from = starts[0]
    const length = starts[count] - from
    const shift = this.bytes.extend(length) - from
    this.bytes.items.set(bytes.subarray(from, from + length), shift + from)
    this.ends.extend(count)
    const { items: words } = this.ends
    for (let i = 0; i < count; i++) words[first + i] = starts[i + 1] + shift
    return first
  }

  /** Removes all texts that are not in the dictionary, except some, which get consecutive ids in their order. */
  keep(ids: Uint32Array): void {
    // Removed ids are used again.
    this.stamps.fill(0, this.fixed, this.count)
    const kept = Array.from(ids, (id) => (id < this.fixed ? undefined : this.view(id).slice()))
    this.bytes.length = this.fixedBytes
    this.ends.length = this.fixed
    kept.forEach((text, i) => {
      if (text !== undefined) ids[i] = this.append({ bytes: text, starts: Uint32Array.of(0, text.length) })
    })
  }

  /** A text, in place. */
  view(id: number): Uint8Array {
    return this.bytes.items.subarray(this.start(id), this.ends.items[id])
  }

  /** The id of a text in the table of a batch, to which it is added if it is not there. */
  idIn(table: StringTable, id: number): number {
    if (table !== this.table || this.stamps.length < this.count) this.use(table)
    if (this.stamps[id] === this.stamp) return this.ids[id]
    this.stamps[id] = this.stamp
    return (this.ids[id] = table.intern(this.bytes.items, this.start(id), this.ends.items[id]))
  }

  private use(table: StringTable): void {
    if (this.stamps.length < this.count) {
      this.stamps = new Uint32Array(Math.max(2 * this.stamps.length, this.count))
      this.ids = new Uint32Array(this.stamps.length)
    }
    this.table = table
    this.stamp++
  }

  private start(id: number): number {
    return id === 0 ? 0 : this.ends.items[id - 1]
  }
}
