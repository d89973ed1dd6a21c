import type { Integer } from '../../lib/transforms/report/result.js'
import { bytes, exactBytes, grouped } from './format.js'
import type { Column } from './table.js'

/** A column of bytes, which are exact for the pointer and in files. */
export function bytesColumn<Row>(title: string, of: (row: Row) => Integer | bigint, help?: string): Column<Row> {
  return {
    title,
    help,
    key: (row) => Number(of(row)),
    cell: (row) => bytes(of(row)),
    exact: (row) => exactBytes(of(row)),
  }
}

/** A column of counts. */
export function countColumn<Row>(title: string, of: (row: Row) => Integer | bigint, help?: string): Column<Row> {
  return { title, help, key: (row) => Number(of(row)), cell: (row) => grouped(of(row)) }
}
