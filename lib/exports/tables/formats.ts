/*
 * The formats that tables are written in: data, for which no writer needs to be loaded.
 */

interface TableFormat {
  readonly name: string
  /** The endings of such files' names. */
  readonly extensions: readonly string[]
  /** The output is not text. */
  readonly binary: boolean
}

/** The formats that tables are written in. */
export const TABLE_FORMATS = [
  { name: 'ndjson', extensions: ['.ndjson', '.jsonl'], binary: false },
  { name: 'arrow', extensions: ['.arrows'], binary: true },
  { name: 'parquet', extensions: ['.parquet', '.pq'], binary: true },
  { name: 'csv', extensions: ['.csv'], binary: false },
] as const satisfies readonly TableFormat[]

export type TableFormatName = (typeof TABLE_FORMATS)[number]['name']
