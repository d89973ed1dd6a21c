import { crc32 } from 'node:zlib'
import type { ColumnMetaData, RowGroup } from 'hyparquet'
import { malformed } from '../../event/error.js'
import { showText } from '../../event/message-text.js'
import { readPageHead } from '../../formats/parquet/page-head.js'

/** Where a column of a row group is in the file, as hyparquet reads it. */
function rangeOfColumn(column: ColumnMetaData): [from: number, to: number] {
  const { dictionary_page_offset: dictionary, data_page_offset: data, total_compressed_size: length } = column
  // Some writers give 0 for no dictionary.
  const from = Number(dictionary || data)
  return [from, from + Number(length)]
}

/** The range of a row group's columns in the file. */
export function rangeOfGroup({ columns }: RowGroup): [from: number, to: number] {
  let [from, to] = [Infinity, 0]
  for (const { meta_data: column } of columns) {
    if (column === undefined) continue
    const [first, end] = rangeOfColumn(column)
    from = Math.min(from, first)
    to = Math.max(to, end)
  }
  return [from, to]
}

/**
 * Checks the pages of a row group that have checksums, which hyparquet does not look at.
 * @param file its length, and what reads a range of it
 * @param names the columns that are to be read
 * @param event the number of the first event of the row group, for errors
 * @param index the offset of the file's index, for errors in it
 * @throws TraceError for a page that does not have its checksum, or a column that is not in the file
 */
export async function checkPages(
  file: { readonly byteLength: number; slice(from: number, to: number): Promise<ArrayBuffer> },
  group: RowGroup,
  names: readonly string[],
  event: number,
  index: number,
): Promise<void> {
  for (const { meta_data: column } of group.columns) {
    const name = column?.path_in_schema[0]
    if (column === undefined || name === undefined || !names.includes(name)) continue
    const [from, to] = rangeOfColumn(column)
    if (!(from >= 0 && from <= to && to <= file.byteLength))
      throw malformed(`column ${showText(name)} is not in the file`, { format: 'parquet', offset: index, event })
    const bytes = new Uint8Array(await file.slice(from, to))
    for (let at = 0; at < bytes.length;) {
      const where = { format: 'parquet', offset: from + at, event }
      let head
      try {
        head = readPageHead(bytes, at)
      } catch (error) {
        throw malformed(`column ${showText(name)}: ${(error as Error).message}`, where)
      }
      const end = head.at + head.length
      if (head.crc !== undefined && (crc32(bytes.subarray(head.at, end)) | 0) !== head.crc)
        throw malformed(`column ${showText(name)}: a page does not have its checksum`, where)
      at = end
    }
  }
}
