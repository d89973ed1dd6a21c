import type { Dtd, Field, Interpretation, Leaf, RecordType, Section, Value, Width } from '../model.js'
import { INTERPRETATIONS } from './syntax.js'

/**
 * Writes a DTD as text, from which `parseDtd` makes the same DTD, except for places. All properties are in their
 * records. Comments, and properties of fields that no record has, are lost, because the model does not contain them.
 * 1.2 gets a line `## MetaTF: 1.2` if it has none.
 */
export function printDtd(dtd: Dtd): string {
  const lines = dtd.headers.map(({ key, value }) => `## ${key}: ${value}`.trimEnd())
  if (dtd.version === '1.2' && !dtd.headers.some(({ key }) => key === 'MetaTF')) lines.push('## MetaTF: 1.2')
  if (dtd.tagWidth !== null) lines.push(`tag.width = ${dtd.tagWidth};`)
  for (const section of dtd.sections) lines.push(...printSection(section, dtd))
  return `${lines.join('\n')}\n`
}

function printSection({ id, name, records }: Section, dtd: Dtd): string[] {
  const lines = records.filter(({ predefined }) => !predefined).flatMap((record) => printRecord(record, dtd))
  return id === 0 ? lines : [`section ${name} ${id} {`, ...lines.map((line) => `  ${line}`), '}']
}

function printRecord(record: RecordType, { version }: Dtd): string[] {
  const properties = new Set<string>()
  for (const leaf of ownLeaves(record.fields)) {
    for (const line of version === '1.0' ? printProperties(leaf, record) : printDeclaration(leaf)) properties.add(line)
  }
  const head = `${record.name} : ${record.of ?? printFields(record.fields, record, version === '1.0' ? '()' : '{}')}`
  return [`${head} {`, ...[...properties].map((line) => `  ${line}`), '}']
}

/** The leaves with properties in the record, without leaves of nested record types. */
function ownLeaves(fields: readonly Field[]): Leaf[] {
  return fields.flatMap((field) => {
    if (field.kind === 'leaf') return field
    if (field.kind === 'repetition') return ownLeaves([field.field])
    return field.type === null ? ownLeaves(field.fields) : []
  })
}

function printFields(fields: readonly Field[], record: RecordType, brackets: string): string {
  return `${brackets[0]}${fields.map((field) => printField(field, record, brackets)).join(', ')}${brackets[1]}`
}

function printField(field: Field, record: RecordType, brackets: string): string {
  if (field.kind === 'leaf') return field.name
  if (field.kind === 'repetition')
    return `${nameOf(record, field.count)} * ${printField(field.field, record, brackets)}`
  if (field.type === null) return printFields(field.fields, record, brackets)
  return field.name === field.type ? field.name : `${field.name} : ${field.type}`
}

function printProperties({ name, width, interpretation, value }: Leaf, record: RecordType): string[] {
  if (name === 'tag') return [`tag.value = ${showValue(value as Value, record)};`]
  const lines = [
    `${name}.width = ${showWidth(width as Width, record)};`,
    `${name}.interpretation = ${showInterpretation(interpretation, record)};`,
  ]
  return value === null ? lines : [...lines, `${name}.value = ${showValue(value, record)};`]
}

function printDeclaration({ name, type, interpretation, value }: Leaf): string[] {
  const lines = name === 'tag' ? [] : [`${type} ${name} = ${showInterpretation(interpretation)};`]
  return value === null ? lines : [...lines, `${name} = ${showValue(value)};`]
}

function showWidth(width: Width, record: RecordType): string {
  return width.kind === 'constant' ? `${width.bytes}` : showValue(width, record)
}

function showInterpretation(interpretation: Interpretation, record?: RecordType): string {
  const values = interpretation as unknown as Readonly<Record<string, Value | bigint | number>>
  const show = (value: Value | bigint | number) => (typeof value === 'object' ? showValue(value, record) : `${value}`)
  const { kind } = interpretation
  return [kind, ...INTERPRETATIONS[kind].map(([, key]) => show(values[key]))].join(' ')
}

function showValue(value: Value, record?: RecordType): string {
  if (value.kind === 'reference') return record === undefined ? '' : `${nameOf(record, value.position)}.value`
  return value.kind === 'number' ? `${value.value}` : `"${value.value.replace(/["\\]/g, '\\$&')}"`
}

function nameOf({ leaves }: RecordType, position: number): string {
  return leaves[position].name
}
