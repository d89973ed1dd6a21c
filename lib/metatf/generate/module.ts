import { APIS, FIELDS, type FieldType, KINDS, OUTCOMES } from '../../event/fields.js'
import { asciiRecords } from '../ascii/reader.js'
import { lastPart } from '../dtd-name.js'
import { printDtd } from '../dtd/print.js'
import { type LeafMapping, mappingOf, type RecordMapping, SECTION_KEY } from '../mapping.js'
import type { Dtd, Field, Interpretation, Leaf, Value, Width } from '../model.js'
import { takeName } from '../names.js'
import { block, type Code, indent, isOptional } from './code.js'
import { groupsOf, loopCode, type LoopName, LOOPS_VERSION } from './loops.js'
import { RUNTIME } from './runtime.js'

/** Options of `compileDtd`. */
export interface CompileOptions {
  /** The language of the module: TypeScript (`ts`, the default), or JavaScript (`js`) with its types in comments. */
  language?: Language
}

/**
 * Names that no type of a record may have: those of what the module imports and makes itself, and those of the language
 * that it uses.
 */
const RESERVED = [...Object.keys(RUNTIME), 'EventBatch', 'TraceRecord', 'Array', 'Iterable', 'Record', 'Uint8Array']

/**
 * The source of a module with the types of a DTD's records, and a reader and writer for its traces: the code that is
 * otherwise generated when a program first reads or writes such a trace. It imports `heapflow` and
 * `heapflow/metatf/runtime`, of the same version.
 *
 * @throws DtdError if the DTD is of 1.2 and asks for what lines cannot say
 */
export function compileDtd(dtd: Dtd, { language = 'ts' }: CompileOptions = {}): string {
  // Without the folder, which is private and which readers and writers do not need.
  const file = lastPart(dtd.file)
  const mapping = mappingOf(dtd)
  if (dtd.version === '1.2') asciiRecords(dtd, mapping)
  const loops = loopFunctions(dtd, language)
  const code = loops.text.replaceAll(/^ *\/\/.*$/gm, '')
  const used = Object.keys(RUNTIME).filter((name) => new RegExp(`(?<![.\\w])${name}\\b`).test(code))
  const pair = dtd.version === '1.0' ? 'binaryPair' : 'asciiPair'
  const isTs = language === 'ts'
  const any = isTs ? '' : '/** @type {any} */\n'
  const parts = [
    comment(
      `Traces as ${file} defines them, in Meta-TF ${dtd.version}: the types of the records, a reader and a writer.`,
      '',
      `Made by metatf-compile from ${file}. To change it, change the definition and compile that.`,
    ).join('\n'),
    [
      ...(isTs ? ["import type { EventBatch } from 'heapflow'"] : []),
      `import { ${pair}, parseDtd${used.length > 0 ? ', RUNTIME' : ''} } from 'heapflow/metatf/runtime'`,
    ].join('\n'),
    indent(recordTypes(mapping.records, { ...dtd, file }, language, RESERVED)).trimEnd(),
    ...(used.length > 0 ? [`const { ${used.join(', ')} } = RUNTIME`] : []),
    ...(loops.texts.length > 0
      ? [`${any}const k${isTs ? ': any' : ''} = [\n${loops.texts.map((text) => `  ${quoted(text)},\n`).join('')}]`]
      : []),
    ...(loops.text === '' ? [] : [loops.text.trimEnd()]),
    `/** The definition, without its comments. */\nexport const dtd = parseDtd(\n  [\n${definition(dtd)}  ].join('\\n'),\n  ${quoted(file)},\n)`,
    indent(exportsOf(pair, loops.names)).trimEnd(),
    indent(recordsOf(language)),
  ]
  return parts.join('\n\n')
}

function definition(dtd: Dtd): string {
  return printDtd(dtd)
    .trimEnd()
    .split('\n')
    .map((line) => `    ${quoted(line)},\n`)
    .join('')
}

/** The functions that read and write records, the texts that they need, and an object for each group of records. */
function loopFunctions(dtd: Dtd, language: Language) {
  const texts: string[] = []
  const names: Code[] = []
  const kinds: LoopName[] = dtd.version === '1.0' ? ['readBig', 'readLittle', 'write'] : ['readBig', 'write']
  const functions = groupsOf(mappingOf(dtd)).flatMap((group, g) => {
    names.push(
      [...kinds, ...(kinds.length < 3 ? ['readLittle'] : [])].map((name) => {
        return `${name}: ${dtd.version === '1.2' && name === 'readLittle' ? 'readBig' : name}${g}`
      }),
    )
    return kinds.map((name) => {
      const head = language === 'ts' ? '(run: any): void' : '(run)'
      const doc = language === 'ts' ? '' : '/** @param {any} run */\n'
      return doc + indent(block(`function ${name}${g}${head}`, loopCode(dtd, group, name, texts, true)))
    })
  })
  return { text: functions.join('\n'), texts, names }
}

function exportsOf(pair: string, groups: readonly Code[]): Code {
  return [
    'export const {',
    '/** A pure decoder: bytes to events. */',
    'decoder,',
    '/** A pure encoder: events to bytes. */',
    'encoder,',
    '/** Bytes to events: a Transform. Its error is a TraceError, after all events before it. */',
    'decode,',
    '/** Events to bytes: a Transform. */',
    'encode,',
    `} = ${pair}(dtd, {`,
    `version: ${LOOPS_VERSION},`,
    'loops: [',
    ...groups.map((names) => `{ ${names.join(', ')} },`),
    '],',
    '})',
  ]
}

function recordsOf(language: Language): Code {
  const doc = 'The events of a batch that `decoder` gave, as what they are.'
  if (language === 'ts') {
    return [
      ...comment(doc),
      ...block('export function recordsOf(batch: EventBatch): Iterable<TraceRecord>', [
        'return batch as Iterable<unknown> as Iterable<TraceRecord>',
      ]),
    ]
  }
  return [
    ...comment(doc, "@param {import('heapflow').EventBatch} batch", '@returns {Iterable<TraceRecord>}'),
    ...block('export function recordsOf(batch)', ['return /** @type {any} */ (batch)']),
  ]
}

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
function recordTypes(
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
