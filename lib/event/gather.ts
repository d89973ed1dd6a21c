import { HI, LO } from '../bytes/u64.js'
import { columnOf, EventBatch, U64Column } from './batch.js'
import { FIELDS, type FieldType } from './fields.js'
import type { TraceHeader } from './header.js'
import type { StringTable } from './strings.js'

/** Not yet copied into the new table. */
const UNKNOWN = -1

/**
 * Copies events of several batches into one new batch: event j is event `rows[j]` of `sources[from[j]]`. Strings are
 * copied into a table of the new batch's own, each string that is used once.
 *
 * @param header the header of the new batch
 * @param n how many events; the length of what is used of `from` and `rows`
 */
export function gatherRows(header: TraceHeader, sources: readonly EventBatch[], from: Int32Array, rows: Int32Array, n: number): EventBatch {
  const target = new EventBatch(n, 0, header)
  for (let j = 0; j < n; j++) {
    const source = sources[from[j] as number] as EventBatch
    const i = rows[j] as number
    target.kind[j] = source.kind[i] as number
    target.mask[j] = source.mask[i] as number
  }
  let columns = 0
  for (let j = 0; j < n; j++) columns |= target.mask[j] as number
  target.addColumns(columns)
  const strings = sources.map((source) => new StringCopier(source.strings, target.strings))
  for (let f = 0; f < FIELDS.length; f++) {
    if (((columns >>> f) & 1) === 0) continue
    const column = columnOf(f)
    const to = target[column]
    const parts = sources.map((source) => source[column])
    if (to instanceof U64Column) copyWide(to.words, parts.map((part) => (part as U64Column).words), target.mask, f, from, rows, n)
    else copyNarrow(to, parts as Narrow[], FIELDS[f]?.type as FieldType, strings, target.mask, f, from, rows, n)
  }
  target.count = n
  return target
}

type Narrow = Uint8Array | Uint32Array | Int32Array

function copyWide(to: Uint32Array, parts: readonly Uint32Array[], mask: Uint32Array, f: number, from: Int32Array, rows: Int32Array, n: number): void {
  for (let j = 0; j < n; j++) {
    if ((((mask[j] as number) >>> f) & 1) === 0) continue
    const part = parts[from[j] as number] as Uint32Array
    const at = 2 * (rows[j] as number)
    to[2 * j + LO] = part[at + LO] as number
    to[2 * j + HI] = part[at + HI] as number
  }
}

function copyNarrow(
  to: Narrow, parts: readonly Narrow[], type: FieldType, strings: readonly StringCopier[], mask: Uint32Array, f: number, from: Int32Array, rows: Int32Array, n: number,
): void {
  const isString = type === 'string' || type === 'bytes'
  for (let j = 0; j < n; j++) {
    if ((((mask[j] as number) >>> f) & 1) === 0) continue
    const k = from[j] as number
    const value = (parts[k] as Narrow)[rows[j] as number] as number
    if (isString) to[j] = (strings[k] as StringCopier).string(value)
    else if (type === 'list') to[j] = (strings[k] as StringCopier).list(value)
    else to[j] = value
  }
}

/** Copies strings and lists from one table to another, each once. */
class StringCopier {
  private strings: Int32Array | undefined
  private lists: Int32Array | undefined

  constructor(private readonly source: StringTable, private readonly target: StringTable) {}

  /** The id in the target of a string of the source. */
  string(id: number): number {
    const known = (this.strings ??= new Int32Array(this.source.size).fill(UNKNOWN))
    if (known[id] === UNKNOWN) known[id] = this.target.intern(this.source.view(id))
    return known[id] as number
  }

  /** The id in the target of a list of the source. */
  list(id: number): number {
    const known = (this.lists ??= new Int32Array(this.source.listCount).fill(UNKNOWN))
    if (known[id] === UNKNOWN) known[id] = this.target.addList(this.source.list(id).map((string) => this.string(string)))
    return known[id] as number
  }
}
