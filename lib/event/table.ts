import type { U64Column } from './batch.js'
import { APIS, FIELDS, GROUP_FIELDS, KINDS, OUTCOMES, type FieldType } from './fields.js'
import type { StringTable } from './strings.js'

/**
 * The storage of a column: integers; `code`, one of few names; `name`, a string; `names`, a list of strings; `bytes`.
 */
export type TableType = 'u64' | 'u32' | 'i32' | 'code' | 'name' | 'names' | 'bytes'

/** Columns from here on have their bit, less this, in the mask of groups. */
export const GROUPED = 32

export interface TableColumn {
  readonly name: string
  readonly type: TableType
  /**
   * The bit in the mask of a row that says whether it has a value; from `GROUPED` on, that in its mask of groups; -1 if
   * all rows have one.
   */
  readonly f: number
  /** The names of codes. */
  readonly names?: readonly string[]
  /** Integers that text shows in hexadecimal. */
  readonly isAddress?: true
}

export type TableValues = U64Column | Uint32Array | Int32Array | Uint8Array

/** Rows of a table, in columns. */
export interface TableRows {
  readonly count: number
  readonly mask: Uint32Array
  /** Undefined if no row has a column from `GROUPED` on. */
  readonly groupMask?: Uint32Array | undefined
  /** The table to which the ids of names, lists and bytes refer. */
  readonly strings: StringTable
  /** The values of a column; arbitrary for rows without one. Called only for columns with a value in some row. */
  values(column: TableColumn): TableValues
}

/** Writes a table in some format, in pieces. */
export interface TableWriter {
  /** Adds rows, which may change after it returns. */
  add(rows: TableRows): void
  /** The next piece, or null when there is none. */
  next(): Uint8Array | null
  /** Ends the table; the rest of the output follows. Without this call, a format with an end mark does not get it. */
  end(): void
  /** Ends the table of a truncated trace, if readers could not open it otherwise. */
  endTruncated?(): void
}

const TYPES: Readonly<Record<FieldType, Pick<TableColumn, 'type' | 'names' | 'isAddress'>>> = {
  u64: { type: 'u64' },
  address: { type: 'u64', isAddress: true },
  u32: { type: 'u32' },
  i32: { type: 'i32' },
  api: { type: 'code', names: APIS },
  outcome: { type: 'code', names: OUTCOMES },
  string: { type: 'name' },
  bytes: { type: 'bytes' },
  list: { type: 'names' },
  json: { type: 'name' },
}

/** The columns of events: the kind, and all fields of the core. */
export const EVENT_COLUMNS: readonly TableColumn[] = [
  { name: 'kind', type: 'code', f: -1, names: KINDS },
  ...FIELDS.map(({ name, type }, f) => ({ name, f, ...TYPES[type] })),
]

/** The columns of fields of groups, which only tables with such fields have. */
export const GROUP_COLUMNS: readonly TableColumn[] = GROUP_FIELDS.map(({ name, type }, g) => ({
  name,
  f: GROUPED + g,
  ...TYPES[type],
}))

/** The masks of rows that have the bit of a column. */
export function masksOf({ mask, groupMask }: TableRows, { f }: TableColumn): Uint32Array {
  return f < GROUPED ? mask : (groupMask as Uint32Array)
}
