import { APIS, FIELDS, type FieldType, KINDS, OUTCOMES } from '../../event/fields.js'
import { plural } from '../../event/message-text.js'
import { type LeafMapping, type RecordMapping, SECTION_KEY } from '../mapping.js'
import type { Dtd, Field, Interpretation, Leaf, Value } from '../model.js'
import { takeName } from '../names.js'
import { type Code, each, isOptional } from './code.js'
import { RUNTIME } from './runtime.js'

/**
 * Names that no type of a record may have: names that the module imports or defines, and names of the language that it
 * uses.
 */
const RESERVED = [...Object.keys(RUNTIME), 'EventBatch', 'TraceRecord', 'Array', 'Iterable', 'Record', 'Uint8Array']

/** The types of the columns' values in plain objects. */
const TYPES: Readonly<Partial<Record<FieldType, string>>> = {
  u64: 'bigint',
  address: 'bigint',
  u32: 'number',
  i32: 'number',
  string: 'string',
  bytes: 'Uint8Array',
}

/** A property of an object type. */
interface Property {
  readonly doc?: string
  readonly name: string
  readonly isOptional: boolean
  readonly type: string
}

/** Prints the types of a DTD's records as events, in TypeScript or as comments of JavaScript. */
export class TypePrinter {
  constructor(
    private readonly dtd: Dtd,
    private readonly isTs: boolean,
  ) {}

  /** The types of these records, and the type of any of them, called `TraceRecord`. */
  all(mappings: readonly RecordMapping[]): Code[] {
    const taken = new Map(RESERVED.map((name) => [name, 1]))
    const names = mappings.map(({ record }) => takeName(pascalCase(record.name), taken, ''))
    const doc = `A record of ${this.dtd.file} as an event.`
    const union = names.length === 0 ? 'never' : names.join(' | ')
    const line = `export type TraceRecord = ${union}`
    const lines = line.length <= 120 ? line : `export type TraceRecord =\n${each(names, (name) => `| ${name}`)}`
    const any = this.isTs ? `${comment(doc)}\n${lines}` : comment(`@typedef {${union}} TraceRecord ${doc}`)
    return [...mappings.map((mapping, i) => this.recordType(mapping, names[i])), any]
  }

  private recordType(mapping: RecordMapping, name: string): Code {
    const properties = propertiesOf(mapping)
    const { record, kind } = mapping
    const section = this.dtd.sections.find(({ id }) => id === record.section)?.name ?? ''
    const where = record.section === 0 ? 'of all sections' : `of section ${section}`
    const predefined = record.predefined ? ', which the language itself defines' : ''
    const doc = `Record \`${record.name}\` ${where}, tag ${record.tag}${predefined}: an event of kind ${KINDS[kind]}.`
    if (!this.isTs) return comment(`@typedef {object} ${name} ${doc}`, ...properties.map(tagOf))
    const lines = properties.map(
      (property) => `${property.doc === undefined ? '' : comment(property.doc)}\n${member(property)}`,
    )
    return `
      ${comment(doc)}
      export interface ${name} {
      ${lines.join('\n')}
      }`
  }
}

function member({ name, isOptional: maybe, type }: Property): string {
  return `${/^[A-Za-z_]\w*$/.test(name) ? name : quoted(name)}${maybe ? '?' : ''}: ${type}`
}

function tagOf({ name, isOptional: maybe, type, doc }: Property): string {
  return `@property {${type}} ${maybe ? `[${name}]` : name}${doc === undefined ? '' : ` ${doc}`}`
}

function objectType(properties: readonly Property[]): string {
  return properties.length === 0 ? 'Record<never, never>' : `{ ${properties.map(member).join('; ')} }`
}

/** An object in a property, which may be missing if all of its values may. */
function objectProperty(name: string, properties: readonly Property[], doc?: string): Property[] {
  if (properties.length === 0) return []
  const isMissing = properties.every((property) => property.isOptional)
  return [{ ...(doc !== undefined && { doc }), name, isOptional: isMissing, type: objectType(properties) }]
}

/** The properties of a record's events. */
function propertiesOf(mapping: RecordMapping): Property[] {
  const { kind, outcome, api, given, record, leaves, section } = mapping
  const has = ({ name }: Property) => ((given >>> FIELDS.findIndex((field) => field.name === name)) & 1) === 1
  const fixed = (name: string, type: string): Property => ({ name, isOptional: false, type })
  const own = [
    fixed('outcome', quoted(OUTCOMES[outcome] ?? '')),
    fixed('api', quoted(APIS[api] ?? '')),
    fixed('type', quoted(record.name)),
    fixed('code', String(record.tag)),
  ]
  const values = leaves.flatMap((leaf): Property[] => {
    // In 1.2, where there is no metadata, nothing can give a silent field a value.
    if (leaf.field < 0 || (leaf.silent && leaf.leaf.width === null)) return []
    const { name, type } = FIELDS[leaf.field]
    const isMissing = leaf.silent || type === 'u32' || type === 'i32' || isOptional(leaf)
    return [{ doc: describe(leaf.leaf, record.leaves), name, isOptional: isMissing, type: TYPES[type] as string }]
  })
  const rest = [...(section === null ? [] : [fixed(SECTION_KEY, quoted(section))]), ...restIn(record.fields, mapping)]
  return [
    fixed('kind', quoted(KINDS[kind])),
    ...own.filter(has),
    ...values,
    ...objectProperty('fields', rest, 'What there is no other field for.'),
  ]
}

/** The values in `fields` that come from these parts of a record. */
function restIn(fields: readonly Field[], mapping: RecordMapping): Property[] {
  const { keys, leaves } = mapping
  return fields.flatMap((field): Property[] => {
    const name = keys.get(field) ?? ''
    if (field.kind === 'repetition') return [{ name, isOptional: false, type: listType(field.field, mapping) }]
    if (field.kind === 'composite') {
      const inner = restIn(field.fields, mapping)
      return name === '' ? inner : objectProperty(name, inner)
    }
    const leaf = leaves[field.position]
    if (name === '' || !canBeRest(leaf)) return []
    const isMissing = leaf.role === 'counted' || leaf.silent || leaf.field >= 0
    return [{ name, isOptional: isMissing, type: leafType(field) }]
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

/** A description of a leaf in the trace: `size, 4 bytes`. */
function describe({ name, width, interpretation, type }: Leaf, leaves: readonly Leaf[]): string {
  const how = describeInterpretation(interpretation, leaves)
  let bytes = type === 'int' ? 'a number' : 'a string in quotes'
  if (width?.kind === 'reference') bytes = `as many bytes as \`${leaves[width.position]?.name}\` says`
  if (width?.kind === 'constant') bytes = plural(width.bytes, 'byte')
  const isNothing = width?.kind === 'constant' && width.bytes === 0 && how !== ''
  return `${[`Field \`${name}\``, isNothing ? '' : bytes, how].filter((part) => part !== '').join(', ')}.`
}

function describeInterpretation(how: Interpretation, leaves: readonly Leaf[]): string {
  const show = (value: Value) => {
    if (value.kind === 'reference') return `the value of \`${leaves[value.position]?.name}\``
    return value.kind === 'number' ? String(value.value) : quoted(value.value)
  }
  if (how.kind === 'baseOffset') return `from ${show(how.base)} on`
  if (how.kind === 'delta') return `as the difference from the one before, at first from ${how.initial}`
  if (how.kind === 'default') return `not stored: ${show(how.value)}, if metadata does not say otherwise`
  if (how.kind === 'sectionOffset') return `an offset into section ${how.section}`
  if (how.kind === 'stride') return `not stored: the one before, at first ${how.initial}, and ${how.stride}`
  if (how.kind === 'sectionStride') return `not stored: taken from section ${how.section}`
  return ''
}

/** The maximum number of columns of a line of a comment. */
const COLUMNS = 110

/** A documentation comment with these paragraphs, wrapped. */
export function comment(...paragraphs: readonly string[]): Code {
  const lines = paragraphs.flatMap((paragraph) => wrap(paragraph.replaceAll('*/', '* /').replaceAll(/\s/g, ' ')))
  if (lines.length === 1) return `/** ${lines[0]} */`
  return `/**\n${each(lines, (text) => `* ${text}`)}\n*/`
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

/** Text as a string literal that cannot end a line, a template, a comment or a script. */
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
