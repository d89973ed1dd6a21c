import { columnOf, type ColumnName } from '../../event/batch.js'
import { FIELDS, type FieldType } from '../../event/fields.js'
import { API_DICTIONARY, KIND, KIND_DICTIONARY, NAME_DICTIONARY, OUTCOME_DICTIONARY } from './layout.js'

/** How a column is stored in Arrow. */
export type Stored = 'u64' | 'u32' | 'i32' | 'code' | 'name' | 'names' | 'bytes'

/** A column of the streams that are written. */
export interface WrittenColumn {
  readonly name: string
  /** The field's bit; -1 for the kind. */
  readonly f: number
  /** Where a batch has it. */
  readonly column: ColumnName | 'kind'
  readonly stored: Stored
  /** The dictionary of codes and names. */
  readonly dictionary?: number
}

const STORED: Readonly<Record<FieldType, Pick<WrittenColumn, 'stored' | 'dictionary'>>> = {
  u64: { stored: 'u64' },
  address: { stored: 'u64' },
  u32: { stored: 'u32' },
  i32: { stored: 'i32' },
  api: { stored: 'code', dictionary: API_DICTIONARY },
  outcome: { stored: 'code', dictionary: OUTCOME_DICTIONARY },
  string: { stored: 'name', dictionary: NAME_DICTIONARY },
  json: { stored: 'name', dictionary: NAME_DICTIONARY },
  list: { stored: 'names', dictionary: NAME_DICTIONARY },
  bytes: { stored: 'bytes' },
}

/** The columns of each stream that is written, in their order: the kind, and all fields. */
export const COLUMNS: readonly WrittenColumn[] = [
  { name: KIND, f: -1, column: 'kind', stored: 'code', dictionary: KIND_DICTIONARY },
  ...FIELDS.map(({ name, type }, f) => ({ name, f, column: columnOf(f), ...STORED[type] })),
]

/** How many nodes and buffers a column has in a record batch. */
export function partsOf({ stored }: WrittenColumn): { nodes: number; buffers: number } {
  if (stored === 'names') return { nodes: 2, buffers: 4 }
  return { nodes: 1, buffers: stored === 'bytes' ? 3 : 2 }
}
