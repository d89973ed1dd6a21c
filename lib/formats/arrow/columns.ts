import type { TableColumn } from '../../event/table.js'

/** A column of the streams that heapflow writes. */
export interface WrittenColumn extends TableColumn {
  /** The dictionary of codes and names. */
  readonly dictionary?: number
}

/** A table as it is written: its columns, and the dictionaries that they refer to. */
export interface WrittenTable {
  readonly columns: readonly WrittenColumn[]
  /** The dictionaries of codes, which never change. */
  readonly codes: readonly (readonly string[])[]
  /** The id of the dictionary of all other names; those of codes are below it. */
  readonly nameDictionary: number
  /** How many nodes and buffers a record batch has. */
  readonly nodes: number
  readonly buffers: number
}

/** How a table with these columns is written. */
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

/** How many nodes and buffers a column has in a record batch. */
export function partsOf({ type }: TableColumn): { nodes: number; buffers: number } {
  if (type === 'names') return { nodes: 2, buffers: 4 }
  return { nodes: 1, buffers: type === 'bytes' ? 3 : 2 }
}
