import { columnOf, U64Column, type EventBatch } from '../event/batch.js'
import { FieldBit } from '../event/fields.js'
import { eventsBefore, type TextSizes } from './text-sizes.js'
import type { GroupColumns } from '../event/groups.js'
import * as Table from '../event/table.js'

const TARGETS: ReadonlyMap<string, Table.TableColumn> = new Map(
  [...Table.EVENT_COLUMNS, ...Table.GROUP_COLUMNS].map((target) => [target.name, target]),
)

/** The field of events, or their kind, that a column is; undefined if it is none. */
export function eventColumn(name: string): Table.TableColumn | undefined {
  return TARGETS.get(name)
}

/** The fault of a table without a column for the kind of events, by the names of its columns. */
export function noEvents(columns: readonly string[]): string {
  // Columns that all rows of the table of blocks have.
  if (['birth', 'since', 'ending', 'reallocs'].every((name) => columns.includes(name)))
    return 'a table of blocks, as hf-blocks writes it, and not of events: query it with SQL, or read the trace itself'
  return 'there is no column "kind", which each event has'
}

/**
 * The events of a batch as rows of a table with columns of `EVENT_COLUMNS`, those of `eventRowsFrom` at a time.
 * @param end one past the last event
 */
export function* eventRows(batch: EventBatch, end = batch.count): Generator<Table.TableRows> {
  for (let from = 0; from < end;) {
    const rows = eventRowsFrom(batch, from, end)
    yield rows
    from += rows.count
  }
}

/**
 * The events from event `from` on: all of them, unless they are very many, or their strings are very long
 * together. All events may have the same long stack.
 */
export function eventRowsFrom(batch: EventBatch, from: number, end = batch.count): Table.TableRows {
  const { groups, strings } = batch
  const to = lastRow(batch, from, Math.min(end, from + MAX_TOGETHER))
  const isWhole = from === 0 && to === batch.count
  const values = ({ f }: Table.TableColumn): Table.TableValues => {
    const column =
      f < 0 ? batch.kind : f < Table.GROUPED ? batch[columnOf(f)] : (groups as GroupColumns).at(f - Table.GROUPED)
    return isWhole ? column : partOf(column, from, to - from)
  }
  return {
    count: to - from,
    mask: batch.mask.subarray(from, to),
    groupMask: groups?.mask.subarray(from, to),
    strings,
    values,
  }
}

/** The maximum number of events that are written together. */
const MAX_TOGETHER = 262_144
/** The maximum bytes of distinct strings that are written together: readers take four times as much. */
export const MAX_TEXTS = 33_554_432

/** The maximum bytes of lists and attributes of several rows that are written together. */
const MAX_LISTED_BYTES = 4_194_304

/** The end of the events that are written together. */
function lastRow(batch: EventBatch, from: number, end: number): number {
  const { mask, strings } = batch
  if (strings.byteLength > MAX_TEXTS) {
    let texts = 0
    const isMore = ({ distinct }: TextSizes, i: number): boolean => (texts += distinct) > MAX_TEXTS && i > from
    end = Math.min(end, eventsBefore(batch, isMore, from))
  }
  if ((batch.columns & (FieldBit.stack | FieldBit.attributes)) === 0) return end
  const { lists, starts } = strings.flat()
  const { stack, attributes } = batch
  let bytes = 0
  for (let i = from; i < end; i++) {
    const fields = mask[i]
    if ((fields & FieldBit.stack) !== 0) {
      const list = stack[i]
      bytes += 4 * (lists[list + 1] - lists[list])
    }
    if ((fields & FieldBit.attributes) !== 0) {
      const id = attributes[i]
      bytes += starts[id + 1] - starts[id]
    }
    if (bytes > MAX_LISTED_BYTES && i > from) return i
  }
  return end
}

/** `count` values from `from` on, in place. */
export function partOf<Column extends Table.TableValues>(column: Column, from: number, count: number): Column
export function partOf(column: Table.TableValues, from: number, count: number): Table.TableValues {
  return column instanceof U64Column
    ? new U64Column(column.words.buffer as ArrayBuffer, column.words.byteOffset + 8 * from, count)
    : column.subarray(from, from + count)
}
