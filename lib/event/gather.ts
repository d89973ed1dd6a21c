import { HI, LO } from '../bytes/u64.js'
import { columnOf, EventBatch, U64Column } from './batch.js'
import { FIELDS, GROUP_FIELDS, type FieldType } from './fields.js'
import { GroupColumns, positions } from './groups.js'
import type { TraceHeader } from './header.js'
import type { StringTable } from './strings.js'

/** Not yet copied into the new table. */
const UNKNOWN = -1

/** For tables with more strings per copied event than this, a list of copied strings does not pay. */
const CACHED_PER_EVENT = 16

/**
 * Copies events of several batches into one new batch: event j is event `rows[j]` of `sources[from[j]]`. The new batch
 * has its own table with the strings it uses, each once.
 * @param header the header of the new batch
 * @param sources the batches; all of them are examined, so each should be used
 * @param n the number of events: the used length of `from` and `rows`
 */
export function gatherRows(
  header: TraceHeader,
  sources: readonly EventBatch[],
  from: Int32Array,
  rows: Int32Array,
  n: number,
): EventBatch {
  const target = new EventBatch(n, 0, header)
  const { kind, mask } = target
  let columns = 0
  let dense = ~0
  for (let j = 0; j < n; j++) {
    const source = sources[from[j]]
    const i = rows[j]
    const fields = source.mask[i]
    kind[j] = source.kind[i]
    mask[j] = fields
    columns |= fields
    dense &= fields
  }
  target.addColumns(columns)
  const copiers = new Copiers(sources, target.strings, n)
  for (let f = 0; f < FIELDS.length; f++) {
    if (((columns >>> f) & 1) === 0) continue
    const column = columnOf(f)
    // If every event has the field, the masks need not be checked.
    const has = (dense >>> f) & 1 ? 0 : 1 << f
    const parts = sources.map((source) => source[column])
    copyColumn(FIELDS[f]?.type as FieldType, target[column], parts, copiers, { mask, has, from, rows, n })
  }
  if (sources.some(({ groups }) => groups !== undefined)) gatherGroups(target, sources, copiers, from, rows, n)
  target.count = n
  return target
}

/** Copies the fields of groups. */
function gatherGroups(
  target: EventBatch,
  sources: readonly EventBatch[],
  copiers: Copiers,
  from: Int32Array,
  rows: Int32Array,
  n: number,
): void {
  const groups = new GroupColumns(n)
  const { mask } = groups
  let columns = 0
  for (let j = 0; j < n; j++) columns |= mask[j] = sources[from[j]].groups?.mask[rows[j]] ?? 0
  if (columns === 0) return
  target.groups = groups
  for (const g of positions(columns)) {
    const to = groups.add(g)
    // A source without a column has no event with it.
    const parts = sources.map((source) => source.groups?.at(g) ?? to)
    copyColumn(GROUP_FIELDS[g]?.type as FieldType, to, parts, copiers, { mask, has: 1 << g, from, rows, n })
  }
}

type Narrow = Uint8Array | Uint32Array | Int32Array
type Column = U64Column | Narrow

/** The events to copy a field of: of the first `n`, those whose masks have all bits of `has`. */
interface Chosen {
  readonly mask: Uint32Array
  readonly has: number
  /** The source of each, and its row there. */
  readonly from: Int32Array
  readonly rows: Int32Array
  readonly n: number
}

function copyColumn(type: FieldType, to: Column, parts: readonly Column[], copiers: Copiers, chosen: Chosen): void {
  const ids = parts as readonly Uint32Array[]
  if (to instanceof U64Column) {
    const words = (parts as readonly U64Column[]).map((part) => part.words)
    copyWide(to.words, words, chosen)
  } else if (type === 'string' || type === 'bytes' || type === 'json')
    copyStrings(to as Uint32Array, ids, copiers, chosen)
  else if (type === 'list') copyLists(to as Uint32Array, ids, copiers, chosen)
  else copyNarrow(to, parts as readonly Narrow[], chosen)
}

function copyWide(to: Uint32Array, parts: readonly Uint32Array[], { mask, has, from, rows, n }: Chosen): void {
  for (let j = 0; j < n; j++) {
    if ((mask[j] & has) !== has) continue
    const part = parts[from[j]]
    const at = 2 * rows[j]
    to[2 * j + LO] = part[at + LO]
    to[2 * j + HI] = part[at + HI]
  }
}

function copyNarrow(to: Narrow, parts: readonly Narrow[], { mask, has, from, rows, n }: Chosen): void {
  for (let j = 0; j < n; j++) {
    if ((mask[j] & has) === has) to[j] = parts[from[j]][rows[j]]
  }
}

function copyStrings(
  to: Uint32Array,
  parts: readonly Uint32Array[],
  copiers: Copiers,
  { mask, has, from, rows, n }: Chosen,
): void {
  for (let j = 0; j < n; j++) {
    if ((mask[j] & has) !== has) continue
    const k = from[j]
    to[j] = copiers.of(k).string(parts[k][rows[j]])
  }
}

function copyLists(
  to: Uint32Array,
  parts: readonly Uint32Array[],
  copiers: Copiers,
  { mask, has, from, rows, n }: Chosen,
): void {
  for (let j = 0; j < n; j++) {
    if ((mask[j] & has) !== has) continue
    const k = from[j]
    to[j] = copiers.of(k).list(parts[k][rows[j]])
  }
}

/** A copier for each source whose strings are needed. */
class Copiers {
  private readonly copiers: (StringCopier | undefined)[] = []

  /** @param n the number of events copied in total */
  constructor(
    private readonly sources: readonly EventBatch[],
    private readonly target: StringTable,
    private readonly n: number,
  ) {}

  /** The copier from source k. */
  of(k: number): StringCopier {
    const limit = Math.ceil((CACHED_PER_EVENT * this.n) / this.sources.length)
    return (this.copiers[k] ??= new StringCopier(this.sources[k].strings, this.target, limit))
  }
}

/** Copies strings and lists from one table to another, each once. */
class StringCopier {
  private readonly strings: Int32Array | undefined
  private readonly lists: Int32Array | undefined
  /** The copied lists of a table with many lists. A list that is copied repeatedly is stored once. */
  private readonly fewLists = new Map<number, number>()

  /**
   * @param limit a table with more strings than this gets no list of copied strings; a repeated string is then found by
   *   its text in the target
   */
  constructor(
    private readonly source: StringTable,
    private readonly target: StringTable,
    limit: number,
  ) {
    if (source.size <= limit) this.strings = new Int32Array(source.size).fill(UNKNOWN)
    if (source.listCount > 0 && source.listCount <= limit) this.lists = new Int32Array(source.listCount).fill(UNKNOWN)
  }

  /** The target's id of a string of the source. */
  string(id: number): number {
    const { strings } = this
    if (strings === undefined) return this.target.intern(this.source.view(id))
    let known = strings[id]
    if (known === UNKNOWN) strings[id] = known = this.target.intern(this.source.view(id))
    return known
  }

  /** The target's id of a list of the source. */
  list(id: number): number {
    const { lists } = this
    if (lists === undefined) {
      const copied = this.fewLists.get(id) ?? this.copyList(id)
      this.fewLists.set(id, copied)
      return copied
    }
    let known = lists[id]
    if (known === UNKNOWN) lists[id] = known = this.copyList(id)
    return known
  }

  private copyList(id: number): number {
    const { strings } = this
    const list = this.source.listView(id).slice()
    for (let i = 0; i < list.length; i++) {
      const known = strings === undefined ? UNKNOWN : strings[list[i]]
      list[i] = known === UNKNOWN ? this.string(list[i]) : known
    }
    return this.target.addList(list)
  }
}
