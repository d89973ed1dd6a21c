import { columnOf } from '../../event/batch.js'
import { FIELDS } from '../../event/fields.js'
import { hasRepetition, type LeafMapping, type RecordMapping } from '../mapping.js'
import type { Field, Leaf } from '../model.js'

/** Lines of code, without indentation. */
export type Code = readonly string[]

/** What generated code is for. */
export interface Target {
  /** Binary traces, or lines in ASCII. */
  readonly binary: boolean
  /** Bytes of a tag. */
  readonly tagWidth: number
  /** The constant that says how many values a record may have. */
  readonly maxValues: string
  /** Whether the code is for people and compilers too. */
  readonly isPrinted: boolean
  /** Whether numbers are read and written in place where that is faster than a call. */
  readonly inline: boolean
  /** The texts that code needs, which it only knows by their indices here: none ever stands in the code itself. */
  readonly texts: string[]
}

/** Code with two spaces for each brace that is open. */
export function indent(lines: Code, level = 0): string {
  let depth = level
  let text = ''
  for (const line of lines) {
    if (/^[})\]]/.test(line)) depth--
    text += `${'  '.repeat(Math.max(0, depth))}${line}\n`
    if (/[{([]$/.test(line)) depth++
  }
  return text
}

/** A block: `head {`, what is in it, `}`. */
export function block(head: string, body: Code): Code {
  return [`${head} {`, ...body, '}']
}

/**
 * Declarations of variables, of which later ones may need earlier ones. Printed code declares only those that the body
 * uses, because compilers reject others, and variables that are only written.
 */
export function declare(
  keyword: 'const' | 'let',
  variables: readonly (readonly [string, string])[],
  body: Code,
  { isPrinted }: Target,
): string[] {
  if (!isPrinted) return variables.map(([name, value]) => `${keyword} ${name} = ${value}`)
  const lines: string[] = []
  const written = new Set<string>()
  const read = new Set<string>()
  const note = (text: string) => {
    for (const [, name, assigned] of text.matchAll(/([A-Za-z_]\w*)( = )?/g))
      (assigned === undefined ? read : written).add(name)
  }
  for (const line of body) note(line)
  for (const [name, value] of variables.toReversed()) {
    if (!read.has(name) && !written.has(name)) continue
    if (!read.has(name)) lines.push(`void ${name}`)
    lines.push(`${keyword} ${name} = ${value}`)
    note(value)
  }
  return lines.toReversed()
}

/** The code for a text: its place among the texts. */
export function textCode(text: string, { texts }: Target): string {
  let i = texts.indexOf(text)
  if (i < 0) i = texts.push(text) - 1
  return `k[${i}]`
}

/** The code for the beginning of a value in `fields`: its name. */
export function keyCode(name: string, target: Target): string {
  return textCode(`${JSON.stringify(name)}:`, target)
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

/** The variables for the columns of fields. */
export function columnLocals(fields: Iterable<number>): (readonly [string, string])[] {
  return [...new Set(fields)]
    .toSorted((a, b) => a - b)
    .map((field) => {
      const { local, property, wide } = columnFor(field)
      return [local, `${property}${wide ? '.words' : ''}`]
    })
}

/** The positions in `FIELDS` of a set. */
export function fieldsIn(set: number): number[] {
  return FIELDS.flatMap((_, field) => ((set >>> field) & 1 ? [field] : []))
}

/** What the fields of a record refer to. */
export interface References {
  /** The leaves that say how often something is repeated. */
  readonly counts: ReadonlySet<number>
  /** The leaves that bytes take their lengths from, and the first bytes that do. */
  readonly lengths: ReadonlyMap<number, number>
  /** The leaves whose values are otherwise needed: for the widths, bases, defaults and values of numbers. */
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

/** How many leaves there are each time that a field is there, without those of repetitions in it. */
export function leafCount(field: Field): number {
  if (field.kind === 'leaf') return 1
  return field.kind === 'repetition' ? 0 : field.fields.reduce((sum, part) => sum + leafCount(part), 0)
}

/** Whether a record has bytes or repetitions, so that it has no length that is always the same. */
export function isVariable({ record }: RecordMapping): boolean {
  return record.leaves.some(({ type }) => type !== 'int') || hasRepetition(record.fields)
}

/** Whether numbers of a leaf can be stored directly: nothing depends on them, and they depend on nothing. */
export function isPlain({ position, value }: Leaf, { counts, values }: References): boolean {
  return value === null && !values.has(position) && !counts.has(position)
}

/** The widths for which code reads or writes a number in place: that of the DTD, and what metadata makes of it. */
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
export function recordComment({ record: { name } }: RecordMapping): string {
  return /^\w+$/.test(name) ? `// ${name}` : '// a record'
}

/** Writes `lo` and `hi` as a number of 1, 2, 4 or 8 bytes at `p`. */
export function setNumber(width: number): Code {
  if (width === 1) return ['view.setUint8(p++, lo)']
  if (width < 8) return [`view.setUint${8 * width}(p, lo, little)`, `p += ${width}`]
  return ['view.setUint32(little ? p : p + 4, lo, little)', 'view.setUint32(little ? p + 4 : p, hi, little)', 'p += 8']
}

/** The fields of an object, those of composites without a name too. */
export function partsOf(fields: readonly Field[], keys: ReadonlyMap<Field, string>): Field[] {
  return fields.flatMap((field) =>
    field.kind === 'composite' && keys.get(field) === '' ? partsOf(field.fields, keys) : [field],
  )
}
