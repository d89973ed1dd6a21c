import { showText } from '../../event/message-text.js'
import type { TableColumn } from '../../event/table.js'
import type { ColumnReader, Held } from './column-reader.js'
import { ParquetFault } from './fault.js'
import { IntColumn, TextColumn } from './flat-columns.js'
import { Physical } from './layout.js'
import { ListColumn } from './list-column.js'
import { NullColumn } from './null-column.js'
import type { ColumnShape } from './schema-read.js'

/**
 * The reader of a column for a field of events. Writers give a column without values any type, so one of another type
 * is read as long as it has only nulls, or empty lists.
 * @throws ParquetFault when the column cannot be one of the field
 */
export function readerOf(column: TableColumn, shape: ColumnShape, held: Held): ColumnReader {
  const { physical, repetition, definition } = shape
  const isInteger = column.type === 'u64' || column.type === 'u32' || column.type === 'i32'
  const isList = column.type === 'names'
  const must = `must have ${isInteger ? 'integers' : (VALUES[column.type] ?? 'strings')}`
  const types: readonly number[] = isInteger ? INTEGERS : TEXTS
  const fits = physical !== undefined && types.includes(physical) && !shape.isOther
  // A column that is not in a group has one definition level at most.
  if (repetition === 0 && definition <= 1 && physical !== undefined) {
    if (fits && !isList) return new (isInteger ? IntColumn : TextColumn)(column, shape, held)
    // Of the kind there is no null.
    if (definition === 1 && column.f >= 0) return new NullColumn(column, shape, held, `it ${must}`)
  }
  if (repetition === 1 && isList && physical !== undefined)
    return new ListColumn(column, shape, held, fits ? undefined : `it ${must}`)
  throw new ParquetFault(`the column ${showText(shape.name)} ${must}`)
}

/** The kind of values of a column, by its type; otherwise strings. */
const VALUES: Readonly<Partial<Record<string, string>>> = { names: 'lists of strings', bytes: 'bytes' }
const INTEGERS = [Physical.int32, Physical.int64, Physical.float, Physical.double]
const TEXTS = [Physical.byteArray]
