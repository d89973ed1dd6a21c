import type { U64Column } from '../../event/batch.js'
import type { StringTable } from '../../event/strings.js'

/**
 * How a column is stored: integers; `code`, one of few names; `name`, a string; `names`, a list of strings; `bytes`.
 */
export type TableType = 'u64' | 'u32' | 'i32' | 'code' | 'name' | 'names' | 'bytes'

/** A column of a table. */
export interface TableColumn {
  readonly name: string
  readonly type: TableType
  /** The bit in the mask of a row that says whether it has a value; -1 if all rows have one. */
  readonly f: number
  /** The names of codes. */
  readonly names?: readonly string[]
}

/** The values of a column. */
export type TableValues = U64Column | Uint32Array | Int32Array | Uint8Array

/** Rows of a table, in columns. */
export interface TableRows {
  readonly count: number
  readonly mask: Uint32Array
  /** What names, lists of them and bytes are ids in. */
  readonly strings: StringTable
  /** The values of a column; any for rows that have none. Only asked for columns of which some row has a value. */
  values(column: TableColumn): TableValues
}
