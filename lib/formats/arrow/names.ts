import { StringTable } from '../../event/strings.js'
import { escape, type Strings } from './escape.js'

/**
 * A dictionary that reaches this size is replaced by an empty one, so that memory does not grow with the names in a
 * trace.
 */
const MAX_NAMES = 4096
const MAX_BYTES = 65_536

const NO_IDS = new Int32Array(0)

/**
 * The dictionary of names of a stream that is written. It keeps the names of earlier batches, so that later batches of
 * most traces need no new dictionary.
 */
export class Names {
  private names = new StringTable()
  /** The string table of the current batch and, by its ids, the ids in the dictionary, or -1. */
  private table: StringTable | undefined
  private ids = NO_IDS
  /** The size of the table up to which every name has the same id in the dictionary. */
  private sameSize = -1
  /** The number of names of this dictionary that were written; -1 if it was not written yet. */
  private written = -1

  /** Begins with the names of another batch. */
  use(table: StringTable): void {
    const isFull = this.names.size > MAX_NAMES || this.names.byteLength > MAX_BYTES
    if (isFull) {
      this.names = new StringTable()
      this.written = -1
    }
    if (table === this.table && !isFull && table.size <= this.ids.length) {
      const { size } = table
      if (this.sameSize !== size && this.ids.subarray(0, size).every((id, i) => id === i)) this.sameSize = size
      return
    }
    this.table = table
    this.sameSize = -1
    if (this.ids.length < table.size || this.ids.length > 4 * table.size + 4096) this.ids = new Int32Array(table.size)
    this.ids.fill(-1)
  }

  /** Whether the table and the dictionary have the same ids, so that columns of names need no translation. */
  get isSame(): boolean {
    return this.table?.size === this.sameSize
  }

  /** Translates a column of names. Rows without bit `f` in their mask have no name, and get 0. */
  translate(target: Uint32Array, column: Uint32Array, mask: Uint32Array, f: number): void {
    for (let i = 0; (i = translateKnown(target, column, mask, f, this.ids, i)) < target.length; i++)
      target[i] = this.add(column[i])
  }

  /** Translates consecutive names, such as the names of a list, to `target[at..]`. */
  translateAll(target: Uint32Array, at: number, names: Uint32Array): void {
    const { ids } = this
    for (let i = 0; i < names.length; i++) {
      const name = names[i]
      const id = ids[name]
      target[at + i] = id < 0 ? this.add(name) : id
    }
  }

  /** The dictionary, if it must be written again. */
  takeChanged(): Strings | undefined {
    if (this.names.size === this.written) return undefined
    this.written = this.names.size
    return escape(this.names.flat())
  }

  private add(name: number): number {
    const id = this.names.intern((this.table as StringTable).view(name))
    this.ids[name] = id
    return id
  }
}

/**
 * The loop of `Names.translate`, from row `i` to the first row whose name has no id yet. V8 optimizes it better without
 * the code that adds a name.
 * @returns that row, or the number of rows
 */
function translateKnown(
  target: Uint32Array,
  column: Uint32Array,
  mask: Uint32Array,
  f: number,
  ids: Int32Array,
  i: number,
): number {
  for (; i < target.length; i++) {
    // All bits or none, instead of a branch, because which rows have a name is unpredictable.
    const has = -((mask[i] >>> f) & 1)
    const name = column[i] & has
    const id = ids[name] & has
    if (id < 0) return i
    target[i] = id
  }
  return i
}
