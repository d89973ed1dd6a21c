import { APIS, FIELDS, KINDS, OUTCOMES, type FieldType } from '../../event/fields.js'
import { SECTION_KEY, type LeafMapping, type RecordMapping } from '../mapping.js'
import type { Dtd, Field, Interpretation, Leaf, Value, Width } from '../model.js'
import { takeName } from '../names.js'
import { isOptional, type Code } from './code.js'

/** The languages that modules can be written in. */
export type Language = 'ts' | 'js'

/** The types of the columns' values in plain objects. */
const TYPES: Readonly<Partial<Record<FieldType, string>>> = {
  u64: 'bigint',
  address: 'bigint',
  u32: 'number',
  i32: 'number',
  string: 'string',
  bytes: 'Uint8Array',
}

/** A property of an object type: its documentation, name and type. */
interface Property {
  readonly doc: string
  readonly name: string
  readonly isOptional: boolean
  readonly type: string
}

/**
 * The types of all records as events, and the type of any of them, called `TraceRecord`.
 *
 * @param reserved the names that no type may have
 */
export function recordTypes(
  mappings: readonly RecordMapping[],
  dtd: Dtd,
  language: Language,
  reserved: readonly string[],
): Code {
  const taken = new Map(reserved.map((name) => [name, 1]))
  const names = mappings.map(({ record }) => takeName(pascalCase(record.name), taken, ''))
  const types = mappings.map((mapping, i) => recordType(mapping, names[i], dtd, language))
  const doc = `A record of ${dtd.file} as an event.`
  const union = names.length === 0 ? 'never' : names.join(' | ')
  const all =
    language === 'ts' ? [...comment(doc), ...unionType(names)] : comment(`@typedef {${union}} TraceRecord ${doc}`)
  return [...types.flatMap((type) => [...type, '']), ...all]
}

function unionType(names: readonly string[]): string[] {
  const line = `export type TraceRecord = ${names.length === 0 ? 'never' : names.join(' | ')}`
  return line.length <= 120 ? [line] : ['export type TraceRecord =', ...names.map((name) => `  | ${name}`)]
}

function recordType(mapping: RecordMapping, name: string, dtd: Dtd, language: Language): Code {
  const properties = propertiesOf(mapping)
  const doc = describe(mapping, dtd)
  if (language === 'ts') {
    const lines = properties.flatMap((property) => [
      ...(property.doc === '' ? [] : comment(property.doc)),
      member(property),
    ])
    return [...comment(...doc), `export interface ${name} {`, ...lines, '}']
  }
  const lines = properties.map(({ name: key, isOptional: maybe, type, doc: text }) => {
    return `@property {${type}} ${maybe ? `[${key}]` : key}${text === '' ? '' : ` ${text}`}`
  })
  return comment(`@typedef {object} ${name} ${doc.join(' ')}`, ...lines)
}

function member({ name, isOptional: maybe, type }: Property): string {
  return `${/^[A-Za-z_]\w*$/.test(name) ? name : quoted(name)}${maybe ? '?' : ''}: ${type}`
}

/** What a record is. */
function describe({ record, kind }: RecordMapping, { sections }: Dtd): string[] {
  const section = sections.find(({ id }) => id === record.section)?.name ?? ''
  const where = record.section === 0 ? 'of all sections' : `of section ${section}`
  const predefined = record.predefined ? ', which the language itself defines' : ''
  return [`Record \`${record.name}\` ${where}, tag ${record.tag}${predefined}: an event of kind ${KINDS[kind]}.`]
}

/** The properties of a record's events. */
function propertiesOf(mapping: RecordMapping): Property[] {
  const { kind, outcome, api, given, record, leaves } = mapping
  const has = (name: string) => ((given >>> FIELDS.findIndex((field) => field.name === name)) & 1) === 1
  const properties: Property[] = [{ doc: '', name: 'kind', isOptional: false, type: quoted(KINDS[kind]) }]
  const fixed = (name: string, type: string) => properties.push({ doc: '', name, isOptional: false, type })
  if (has('outcome')) fixed('outcome', quoted(OUTCOMES[outcome]))
  if (has('api')) fixed('api', quoted(APIS[api]))
  if (has('type')) fixed('type', quoted(record.name))
  if (has('code')) fixed('code', String(record.tag))
  for (const leaf of leaves) {
    // In 1.2, where there is no metadata, nothing can give a silent field a value.
    if (leaf.field < 0 || (leaf.silent && leaf.leaf.width === null)) continue
    const { name, type } = FIELDS[leaf.field]
    const isMissing = leaf.silent || type === 'u32' || type === 'i32' || isOptional(leaf)
    properties.push({
      doc: describeLeaf(leaf.leaf, record.leaves),
      name,
      isOptional: isMissing,
      type: TYPES[type] as string as string,
    })
  }
  const rest = restOf(mapping)
  if (rest !== null) {
    const isMissing = rest.every((property) => property.isOptional)
    properties.push({
      doc: 'What there is no other field for.',
      name: 'fields',
      isOptional: isMissing,
      type: objectType(rest),
    })
  }
  return properties
}

/** The values in `fields`, or null if there can be none. */
function restOf(mapping: RecordMapping): Property[] | null {
  const { record, section } = mapping
  const own = section === null ? [] : [{ doc: '', name: SECTION_KEY, isOptional: false, type: quoted(section) }]
  const properties = [...own, ...restIn(record.fields, mapping)]
  return properties.length > 0 ? properties : null
}

function restIn(fields: readonly Field[], mapping: RecordMapping): Property[] {
  const { keys, leaves } = mapping
  return fields.flatMap((field) => {
    const name = keys.get(field) ?? ''
    if (field.kind === 'leaf') {
      const leaf = leaves[field.position]
      if (name === '' || !canBeRest(leaf)) return []
      const isMissing = leaf.role === 'counted' || leaf.silent || leaf.field >= 0
      return [{ doc: '', name, isOptional: isMissing, type: leafType(field) }]
    }
    if (field.kind === 'composite' && name === '') return restIn(field.fields, mapping)
    if (field.kind === 'composite') {
      const inner = restIn(field.fields, mapping)
      return inner.length === 0
        ? []
        : [{ doc: '', name, isOptional: inner.every((property) => property.isOptional), type: objectType(inner) }]
    }
    return [{ doc: '', name, isOptional: false, type: listType(field.field, mapping) }]
  })
}

/**
 * Whether a value can be in `fields`: what no field is for, what metadata can make too large for its field, and lengths
 * that disagree.
 */
function canBeRest({ leaf, field, type, role, silent }: LeafMapping): boolean {
  if (leaf.width === null && silent) return false
  return field < 0 ? role === 'value' || role === 'counted' : type === 'u32' || type === 'i32'
}

function listType(field: Field, mapping: RecordMapping): string {
  if (field.kind === 'leaf') return `${leafType(field)}[]`
  if (field.kind === 'repetition') return `${listType(field.field, mapping)}[]`
  return `${objectType(restIn(field.fields, mapping))}[]`
}

function leafType({ type }: Leaf): string {
  return type === 'int' ? 'bigint' : 'string'
}

function objectType(properties: readonly Property[]): string {
  return properties.length === 0 ? 'Record<never, never>' : `{ ${properties.map(member).join('; ')} }`
}

/** What a leaf is in the trace: `size, 4 bytes`. */
function describeLeaf(leaf: Leaf, leaves: readonly Leaf[]): string {
  const { name, width, interpretation, type } = leaf
  const how = interpretation.kind === 'none' ? '' : `, ${describeInterpretation(interpretation, leaves)}`
  if (width === null) return `Field \`${name}\`, ${type === 'int' ? 'a number' : 'a string in quotes'}${how}.`
  const isNothing = width.kind === 'constant' && width.bytes === 0
  return `Field \`${name}\`${isNothing && how !== '' ? '' : `, ${describeWidth(width, leaves)}`}${how}.`
}

function describeWidth(width: Width, leaves: readonly Leaf[]): string {
  if (width.kind === 'reference') return `as many bytes as \`${leaves[width.position]?.name}\` says`
  return width.bytes === 1 ? '1 byte' : `${width.bytes} bytes`
}

function describeInterpretation(how: Interpretation, leaves: readonly Leaf[]): string {
  const show = (value: Value) => {
    if (value.kind === 'reference') return `the value of \`${leaves[value.position]?.name}\``
    return value.kind === 'number' ? String(value.value) : quoted(value.value)
  }
  switch (how.kind) {
    case 'baseOffset':
      return `from ${show(how.base)} on`
    case 'delta':
      return `as the difference from the one before, at first from ${how.initial}`
    case 'default':
      return `not stored: ${show(how.value)}, if metadata does not say otherwise`
    case 'sectionOffset':
      return `an offset into section ${how.section}`
    case 'stride':
      return `not stored: the one before, at first ${how.initial}, and ${how.stride}`
    case 'sectionStride':
      return `not stored: taken from section ${how.section}`
    default:
      return ''
  }
}

/** The most columns of a line of a comment. */
const COLUMNS = 110

/** A documentation comment of some paragraphs, of which long ones are broken. */
export function comment(...paragraphs: readonly string[]): string[] {
  const lines = paragraphs.flatMap((paragraph) => wrap(paragraph.replaceAll('*/', '* /').replaceAll(/\s/g, ' ')))
  if (lines.length === 1) return [`/** ${lines[0]} */`]
  return ['/**', ...lines.map((text) => (text === '' ? ' *' : ` * ${text}`)), ' */']
}

function wrap(text: string): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines[lines.length - 1]
    if (last !== '' && last.length + 1 + word.length > COLUMNS) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}

/** Text as a string literal, in which nothing can end a line, a template, a comment or a script. */
export function quoted(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${escaped.replaceAll(/[\u2028\u2029]|(?<=<)\/|(?<=\*)\/|(?<=<)!/g, unicodeEscape)}'`
}

function unicodeEscape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** `create_heap` as `CreateHeap`. */
function pascalCase(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  // No name may begin with a digit, which only underscores kept from being the first.
  return /^[A-Z]/.test(joined) ? joined : `X${joined}`
}
