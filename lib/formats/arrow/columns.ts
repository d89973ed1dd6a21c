import type { TableColumn } from '../../event/table.js'

/** A column of the streams that heapflow writes. */
export interface WrittenColumn extends TableColumn {
  /** The dictionary of codes and names. */
  readonly dictionary?: number
}

/** The written form of a table: its columns, and the dictionaries to which they refer. */
export interface WrittenTable {
  readonly columns: readonly WrittenColumn[]
  /** The dictionaries of codes, which never change. */
  readonly codes: readonly (readonly string[])[]
  /** The id of the dictionary of all other names; the dictionaries of codes have smaller ids. */
  readonly nameDictionary: number
  /** The numbers of nodes and buffers of a record batch. */
  readonly nodes: number
  readonly buffers: number
}

/** The written form of a table with these columns. */
export function writtenTable(columns: readonly TableColumn[]): WrittenTable {
  const codes = columns.flatMap(({ names }) => (names === undefined ? [] : [names]))
  let code = 0
  const written = columns.map((column): WrittenColumn => {
    if (column.type === 'code') return { ...column, dictionary: code++ }
    return column.type === 'name' || column.type === 'names' ? { ...column, dictionary: codes.length } : column
  })
  const sum = (part: 'nodes' | 'buffers') => columns.reduce((total, column) => total + partsOf(column)[part], 0)
  return { columns: written, codes, nameDictionary: codes.length, nodes: sum('nodes'), buffers: sum('buffers') }
}

/** The numbers of nodes and buffers of a column in a record batch. */
export function partsOf({ type }: TableColumn): { nodes: number; buffers: number } {
  if (type === 'names') return { nodes: 2, buffers: 4 }
  return { nodes: 1, buffers: type === 'bytes' ? 3 : 2 }
}
