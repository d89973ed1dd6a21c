import type { TableColumn, TableWriter } from '../../event/table.js'
import type { CodecName } from '../../formats/parquet/layout.js'
import type { TableFormatName } from './formats.js'

/** Options of the formats of tables. */
export interface TableWriterOptions {
  /** How Parquet is compressed. Default `snappy`. */
  readonly codec?: CodecName
}

/**
 * A writer of a table in some format, which is loaded when it is used.
 * @throws RangeError for an unknown format, or when this machine lacks the codec
 */
export async function tableWriter(
  format: TableFormatName,
  columns: readonly TableColumn[],
  { codec = 'snappy' }: TableWriterOptions = {},
): Promise<TableWriter> {
  switch (format) {
    case 'ndjson':
      return (await import('./text.js')).ndjsonTable(columns)
    case 'csv':
      return (await import('./text.js')).csvTable(columns)
    case 'arrow':
      return new (await import('../../formats/arrow/table-writer.js')).ArrowTableWriter(columns)
    case 'parquet':
      return new (await import('../../formats/parquet/writer.js')).ParquetWriter(columns, codec)
    default:
      throw new RangeError(`unknown format of tables ${JSON.stringify(format)}: ndjson, arrow, parquet or csv`)
  }
}
