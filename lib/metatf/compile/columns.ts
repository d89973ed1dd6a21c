import { columnOf } from '../../event/batch.js'
import { FIELDS, type FieldType } from '../../event/fields.js'
import { camelCase } from './source.js'

/** The local variable for a column of the batch. */
export interface Column {
  readonly field: number
  /** `words` are pairs of words for each event. */
  readonly type: 'words' | 'u32' | 'i32' | 'ids' | 'codes'
  readonly local: string
  /** Where it is: `batch.size.words`. */
  readonly source: string
  /** The constant for its bit: `HAS_SIZE`. */
  readonly bit: string
}

const TYPES: Readonly<Partial<Record<FieldType, Column['type']>>> = {
  u64: 'words',
  address: 'words',
  u32: 'u32',
  i32: 'i32',
  string: 'ids',
  bytes: 'ids',
  api: 'codes',
  outcome: 'codes',
}
const ENDINGS: Readonly<Record<Column['type'], string>> = {
  words: 'Words',
  u32: 'Values',
  i32: 'Values',
  ids: 'Ids',
  codes: 'Codes',
}

/** The column of the field at a position in `FIELDS`. */
export function columnFor(field: number): Column {
  const { name, type } = FIELDS[field] as (typeof FIELDS)[number]
  const kind = TYPES[type] as Column['type']
  const column = columnOf(field)
  return {
    field,
    type: kind,
    local: `${camelCase(name)}${ENDINGS[kind]}`,
    source: `batch.${column}${kind === 'words' ? '.words' : ''}`,
    bit: bitName(name),
  }
}

/** `HAS_OLD_ADDRESS` for `oldAddress`. */
export function bitName(field: string): string {
  return `HAS_${field.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}

/** The positions in `FIELDS` of a set. */
export function fieldsIn(set: number): number[] {
  return FIELDS.flatMap((_, field) => ((set >>> field) & 1 ? [field] : []))
}

/** What is read before a loop: a constant for each column. */
export function hoisted(fields: Iterable<number>): string[] {
  return [...new Set(fields)]
    .toSorted((a, b) => a - b)
    .map((field) => {
      const { local, source } = columnFor(field)
      return `const ${local} = ${source}`
    })
}
