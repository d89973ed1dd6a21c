import type { Column } from './schema.js'

/** Arrow's names of the types of columns, by their numbers. */
const NAMES = [
  'none',
  'Null',
  'Int',
  'FloatingPoint',
  'Binary',
  'Utf8',
  'Bool',
  'Decimal',
  'Date',
  'Time',
  'Timestamp',
  'Interval',
  'List',
  'Struct',
  'Union',
  'FixedSizeBinary',
  'FixedSizeList',
  'Map',
  'Duration',
  'LargeBinary',
  'LargeUtf8',
  'LargeList',
  'RunEndEncoded',
  'BinaryView',
  'Utf8View',
  'ListView',
  'LargeListView',
] as const

/** The type of a column, as Arrow calls it, for messages. */
export function typeName({ type, dictionary }: Column): string {
  const name = NAMES[type] ?? `the unknown type ${type}`
  return dictionary === undefined ? name : `a dictionary of ${name}`
}
