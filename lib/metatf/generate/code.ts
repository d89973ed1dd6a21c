import { columnOf } from '../../event/batch.js'
import { FIELDS } from '../../event/fields.js'
import { hasRepetition, type LeafMapping, type RecordMapping } from '../mapping.js'
import type { Field, Leaf } from '../model.js'

/** Lines of code, of which `indent` makes what is printed. Indentation and empty lines mean nothing. */
export type Code = string

/** The purpose of generated code. */
export interface Target {
  /** Binary traces, or lines in ASCII. */
  readonly binary: boolean
  /** Bytes of a tag. */
  readonly tagWidth: number
  /** The constant that says how many values a record may have. */
  readonly maxValues: string
  /** Whether the code is printed for readers and compilers. */
  readonly isPrinted: boolean
  /** Whether numbers are read and written inline if that is faster than a call. */
  readonly inline: boolean
  /** The texts that the code refers to by index, because no text is ever part of the code. */
  readonly texts: string[]
}

/** Code with two spaces for each bracket that is open. */
export function indent(code: Code): string {
  let depth = 0
  let text = ''
  for (const line of code.split('\n').map((part) => part.trim())) {
    if (line === '') continue
    if (/^[})\]]/.test(line)) depth--
    text += `${'  '.repeat(depth)}${line.startsWith('*') ? ' ' : ''}${line}\n`
    if (/[{([]$/.test(line)) depth++
  }
  return text
}

/** The code for some things, one after the other. */
export function each<Item>(items: readonly Item[], code: (item: Item, i: number) => Code): Code {
  return items.map(code).join('\n')
}

/**
 * Declarations of variables, in which later ones may use earlier ones. Printed code declares only variables that the
 * body uses, because compilers reject unused ones and those that are only written.
 */
export function declare(
  keyword: 'const' | 'let',
  variables: readonly (readonly [string, string])[],
  body: Code,
  { isPrinted }: Target,
): Code {
  if (!isPrinted) return each(variables, ([name, value]) => `${keyword} ${name} = ${value}`)
  const lines: string[] = []
  const written = new Set<string>()
  const read = new Set<string>()
  const note = (text: string) => {
    for (const [, name, assigned] of text.matchAll(/([A-Za-z_]\w*)( = )?/g))
      (assigned === undefined ? read : written).add(name)
  }
  note(body)
  for (const [name, value] of variables.toReversed()) {
    if (!read.has(name) && !written.has(name)) continue
    if (!read.has(name)) lines.push(`void ${name}`)
    lines.push(`${keyword} ${name} = ${value}`)
    note(value)
  }
  return lines.toReversed().join('\n')
}

/** The code for a text: its place among the texts. */
export function textCode(text: string, { texts }: Target): Code {
  let i = texts.indexOf(text)
  if (i < 0) i = texts.push(text) - 1
  return `k[${i}]`
}

/** A field's column as generated code has it. */
export interface Column {
  /** The bit in sets of fields. */
  readonly bit: number
  /** The local variable with its numbers. */
  readonly local: string
  /** The batch's own property. */
  readonly property: string
  readonly wide: boolean
}

/** The column of the field at a position in `FIELDS`. */
export function columnFor(field: number): Column {
  const { name, type } = FIELDS[field]
  const property = `batch.${columnOf(field)}`
  return { bit: 1 << field, local: `c_${name}`, property, wide: type === 'u64' || type === 'address' }
}

/** The variables for the columns of numbers of some records, and of these fields. */
export function columnLocals(records: readonly RecordMapping[], others: readonly number[] = []) {
  const numbers = records
    .flatMap(({ leaves }) => leaves)
    .flatMap(({ field, leaf }) => (field < 0 || leaf.type !== 'int' ? [] : [field]))
  return [...new Set([...numbers, ...others])]
    .toSorted((a, b) => a - b)
    .map((field) => {
      const { local, property, wide } = columnFor(field)
      return [local, `${property}${wide ? '.words' : ''}`] as const
    })
}

/** The positions in `FIELDS` of a set. */
export function fieldsIn(set: number): number[] {
  return FIELDS.flatMap((_, field) => ((set >>> field) & 1 ? [field] : []))
}

/** The references between the fields of a record. */
export interface References {
  /** The leaves with the numbers of repetitions. */
  readonly counts: ReadonlySet<number>
  /** The leaves that bytes take their lengths from, and the first bytes that do. */
  readonly lengths: ReadonlyMap<number, number>
  /** The leaves that other numbers use as width, base, default or value. */
  readonly values: ReadonlySet<number>
}

export function referencesOf({ record }: RecordMapping): References {
  const lengths = new Map<number, number>()
  const values = new Set<number>()
  for (const { width, type, value, interpretation: how, position } of record.leaves) {
    if (width?.kind === 'reference' && type === 'int') values.add(width.position)
    if (width?.kind === 'reference' && type !== 'int' && !lengths.has(width.position))
      lengths.set(width.position, position)
    for (const other of [value, how.kind === 'baseOffset' ? how.base : how.kind === 'default' ? how.value : null])
      if (other?.kind === 'reference') values.add(other.position)
  }
  const counts = new Set<number>()
  const visit = (fields: readonly Field[]) => {
    for (const field of fields) {
      if (field.kind === 'repetition') counts.add(field.count)
      if (field.kind !== 'leaf') visit(field.kind === 'repetition' ? [field.field] : field.fields)
    }
  }
  visit(record.fields)
  return { counts, lengths, values }
}

/** The number of leaves in these fields, without those inside repetitions. */
export function leafCount(fields: readonly Field[]): number {
  return fields.reduce((sum, field) => {
    return sum + (field.kind === 'leaf' ? 1 : field.kind === 'repetition' ? 0 : leafCount(field.fields))
  }, 0)
}

/** Whether a record has bytes or repetitions, so that its length is not constant. */
export function isVariable({ record }: RecordMapping): boolean {
  return record.leaves.some(({ type }) => type !== 'int') || hasRepetition(record.fields)
}

/** Whether leaves of a record depend on their previous values by the DTD. */
export function isMoving({ record }: RecordMapping): boolean {
  return record.leaves.some(({ interpretation: { kind } }) => kind === 'delta' || kind === 'stride')
}

/** Whether numbers of a leaf can be stored directly, because no other leaf depends on them, nor they on others. */
export function isPlain({ position, value }: Leaf, { counts, values }: References): boolean {
  return value === null && !values.has(position) && !counts.has(position)
}

/** The widths for which code reads or writes a number inline: the DTD's, and the widths that metadata may set. */
export function widthsInPlace({ leaf, role, field }: LeafMapping): number[] {
  const { width, interpretation: how } = leaf
  if (how.kind === 'default') return field >= 0 ? [4, 8] : []
  const isStored = how.kind === 'none' || how.kind === 'sectionOffset'
  const own = isStored && width?.kind === 'constant' && [1, 2, 4, 8].includes(width.bytes) ? [width.bytes] : []
  return own.length > 0 && own[0] !== 8 && role !== 'counted' && field >= 0 ? [...own, 8] : own
}

/**
 * Whether a field that a leaf is mapped to is absent if there are no bytes. The text of a comment is there if it is
 * empty.
 */
export function isOptional({ field, type }: { field: number; type: string | null }): boolean {
  return field >= 0 && (type === 'bytes' || type === 'string') && FIELDS[field].name !== 'text'
}

/** A comment with the name of a record, if the language allows it: no other text of a DTD gets into the code. */
export function recordComment({ record: { name } }: RecordMapping): Code {
  return /^\w+$/.test(name) ? `// ${name}` : '// a record'
}
