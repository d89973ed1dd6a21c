import { columnOf, EventBatch, U64Column } from '../../event/batch.js'
import { GroupColumns } from '../../event/groups.js'
import { NO_HEADER, type TraceHeader } from '../../event/header.js'
import { checkHeader } from '../../event/header-check.js'
import { StringTable } from '../../event/strings.js'
import { GROUPED } from '../../event/table.js'
import type { ColumnReader } from './column-reader.js'
import { ParquetFault } from './fault.js'

/** The headers of all traces and the rows at which they begin. @throws ParquetFault that says what is wrong */
export function tracesIn(text: string | undefined): [row: number, header: TraceHeader][] {
  if (text === undefined) return [[0, NO_HEADER]]
  const traces = parse(text)
  if (!Array.isArray(traces)) throw new ParquetFault('the list of traces is none')
  return traces.map((entry: unknown, i) => {
    const [row, header] = Array.isArray(entry) ? (entry as unknown[]) : []
    if (!Number.isSafeInteger(row) || (row as number) < 0 || (i === 0 && row !== 0))
      throw new ParquetFault('a trace does not say where it begins')
    try {
      return [row as number, checkHeader(header)]
    } catch (error) {
      throw new ParquetFault((error as Error).message, { cause: error })
    }
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ParquetFault(`the list of traces is not JSON: ${(error as Error).message}`, { cause: error })
  }
}

/**
 * The next rows as a batch, as many as all columns have read ahead. @throws ParquetFault for an event without a kind
 */
export function takeBatch(columns: readonly ColumnReader[], most: number, header: TraceHeader): EventBatch {
  let count = most
  for (const { head, tail } of columns) count = Math.min(count, tail - head)
  const strings = new StringTable()
  for (const column of columns) count = column.prepare(strings, count)
  const coreMasks = new Uint32Array(count)
  let groups: GroupColumns | undefined
  const some = columns.filter(({ column, has, head }) => {
    const { f } = column
    if (f < 0) {
      const first = has.subarray(head, head + count).indexOf(0)
      if (first === 0) throw new ParquetFault('an event without a kind')
      if (first > 0) count = first
      return true
    }
    let any = 0
    if (f >= GROUPED) groups ??= new GroupColumns(count)
    const masks = f < GROUPED ? coreMasks : (groups as GroupColumns).mask
    for (let i = 0; i < count; i++) {
      const bit = has[head + i]
      masks[i] = masks[i] | (bit << f)
      any |= bit
    }
    return any !== 0
  })
  const set = some.reduce((all, { column: { f } }) => (f < 0 || f >= GROUPED ? all : all | (1 << f)), 0)
  const batch = EventBatch.unfilled(count, set, header, strings)
  for (const column of some) {
    const { f } = column.column
    const target = f < 0 ? batch.kind : f < GROUPED ? batch[columnOf(f)] : (groups as GroupColumns).add(f - GROUPED)
    column.copy(target instanceof U64Column ? target.words : target, count)
  }
  batch.mask.set(coreMasks.subarray(0, count))
  batch.groups = groups?.columns === 0 ? undefined : groups
  batch.count = count
  for (const column of columns) column.head += count
  return batch
}
