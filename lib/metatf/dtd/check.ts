import { limitError, meaningError, quote, MAX_RECORDS } from '../errors.js'
import type { DtdContext } from './field-types.js'
import type { Dtd, Element, Place, RecordType, Section, Version } from '../model.js'
import { parseSyntax } from './parser.js'
import { PREDEFINED_FILE, PREDEFINED_TEXT, checkRestated } from './predefined.js'
import { RecordBuilder } from './record.js'
import { defineRecords, findRecord, propertyTable, type Definition, type PropertyTable, type Scope } from './scope.js'
import type { DefinitionsSyntax, DtdSyntax, Name, SectionSyntax } from './syntax.js'

/** Names with a meaning of their own, that no section and no other record can have. */
const RESERVED = {
  '1.0': new Set(['section', 'tag', 'vfield', 'comment', 'metadata', 'width', 'interpretation', 'value']),
  '1.2': new Set(['section', 'tag', 'vfield', 'comment', 'metadata', 'int', 'string']),
} as const

/** Names that no field can have. The predefined record types can stand in a list of fields; 1.2 has none. */
const RESERVED_FIELDS = {
  '1.0': new Set(['width', 'interpretation', 'value']),
  '1.2': new Set(['int', 'string']),
} as const

const NO_NAMES: ReadonlySet<string> = new Set()
const MAX_SECTION = 255n
const MAX_TAG_WIDTH = 8n

const PREDEFINED_PLACE: Place = { file: PREDEFINED_FILE, line: 1, column: 1 }

/**
 * Makes the model of what was parsed: looks up all names and checks all rules. Throws a DtdError at the first one that
 * is broken.
 */
export function check(syntax: DtdSyntax): Dtd {
  const { version, file } = syntax
  const at: Place = { file, line: 1, column: 1 }
  const predefined = version === '1.0' ? predefinedRecords() : new Map<string, Definition>()
  const globalScope = makeScope({ text: '', at }, 0, null, syntax.definitions, version, predefined)
  // What is of a predefined type is of that type as the DTD states it.
  for (const [name, { scope }] of predefined) scope.records.set(name, globalScope.records.get(name) as Definition)
  const scopes = [globalScope]
  for (const section of syntax.sections) scopes.push(sectionScope(section, scopes, version))
  for (const scope of scopes) checkProperties(scope, version)
  const dtd: DtdContext = {
    version,
    tagWidth: version === '1.0' ? tagWidth(globalScope) : null,
    reservedFields: RESERVED_FIELDS[version],
    sections: new Set(scopes.slice(1).map(({ id }) => id)),
    strides: [],
  }
  const records = buildRecords(scopes, predefined, dtd)
  const globalTags = tags(records[0] as RecordType[], new Map(), predefined)
  const sections = scopes.map(({ name, id, at: place }, i): Section => {
    const own = records[i] as RecordType[]
    if (i === 0) return { name, id, records: own, tags: globalTags, element: null, at: place }
    return { name, id, records: own, tags: tags(own, globalTags, predefined), element: tableElement(own), at: place }
  })
  for (const { section, at: place } of dtd.strides) {
    const { element, name, at: other } = sections.find(({ id }) => id === section) as Section
    if (element !== null) continue
    const reason = `section ${section} is no table, which sectionStride needs: one record type with one field of fixed width`
    throw meaningError(reason, place, `section ${quote(name)} is defined`, other)
  }
  return { version, file, headers: syntax.headers, tagWidth: dtd.tagWidth?.bytes ?? null, sections }
}

/** The predefined record types, in a separate scope, which no property of the DTD affects. */
function predefinedRecords(): Map<string, Definition> {
  const scope: Scope = {
    id: 0,
    name: '',
    parent: null,
    properties: new Map(),
    records: new Map(),
    at: PREDEFINED_PLACE,
  }
  return new Map(
    parseSyntax(PREDEFINED_TEXT, PREDEFINED_FILE).definitions.records.map((syntax) => {
      return [
        syntax.name.text,
        { syntax, scope, properties: propertyTable(syntax.properties), restates: null, predefined: true },
      ]
    }),
  )
}

function makeScope(
  { text, at }: Name,
  id: number,
  parent: Scope | null,
  definitions: DefinitionsSyntax,
  version: Version,
  predefined: ReadonlyMap<string, Definition>,
): Scope {
  for (const { name } of definitions.records) {
    if (!predefined.has(name.text) && RESERVED[version].has(name.text)) {
      throw meaningError(`${quote(name.text)} is reserved and cannot be a record defined here`, name.at)
    }
  }
  const scope: Scope = {
    id,
    name: text,
    parent,
    properties: propertyTable(definitions.properties),
    records: new Map(),
    at,
  }
  defineRecords(scope, definitions, predefined)
  return scope
}

function sectionScope(syntax: SectionSyntax, before: readonly Scope[], version: Version): Scope {
  const { name, id } = syntax
  if (RESERVED[version].has(name.text))
    throw meaningError(`${quote(name.text)} is reserved and cannot be a section`, name.at)
  const section = `section ${quote(name.text)}`
  if (id.value < 1n || id.value > MAX_SECTION) {
    throw meaningError(`the ID of ${section} must be from 1 to 255, not ${id.value}`, id.at)
  }
  for (const other of before.slice(1)) {
    if (other.name === name.text) throw meaningError(`${section} is defined twice`, name.at, 'first defined', other.at)
    if (other.id !== Number(id.value)) continue
    throw meaningError(`section ID ${id.value} is taken`, id.at, `section ${quote(other.name)} is defined`, other.at)
  }
  return makeScope(name, Number(id.value), before[0] as Scope, syntax, version, new Map())
}

/** The rules for properties wherever they stand; those that hold for a certain field are checked with that field. */
function checkProperties(scope: Scope, version: Version): void {
  for (const [field, properties] of scope.properties) {
    const { at } = Object.values(properties)[0] as { at: Place }
    if (RESERVED_FIELDS[version].has(field)) throw meaningError(`${quote(field)} is reserved and cannot be a field`, at)
    const record = findRecord(scope, field)
    if (record !== null) {
      const reason = `${quote(field)} is a record type, which has no properties of its own`
      throw meaningError(reason, at, 'defined', record.syntax.name.at)
    }
    if (field !== 'tag' || properties.value === undefined) continue
    throw meaningError('the value of a tag can be set in a record only', properties.value.at)
  }
  checkTag(scope.properties, scope.parent === null)
  for (const { properties } of scope.records.values()) checkTag(properties, false)
}

/** The tag's width is set once, globally; it is always stored with interpretation none. */
function checkTag(table: PropertyTable, isGlobal: boolean): void {
  const tag = table.get('tag')
  if (tag?.width !== undefined && !isGlobal)
    throw meaningError('the width of the tag can be set globally only', tag.width.at)
  const interpretation = tag?.interpretation
  if (interpretation !== undefined && interpretation.value.name !== 'none') {
    throw meaningError(
      `the interpretation of the tag is always none, not ${interpretation.value.name}`,
      interpretation.at,
    )
  }
  if (tag?.type?.value === 'string') throw meaningError('the tag is always an int', tag.type.at)
}

function tagWidth({ properties, at }: Scope): DtdContext['tagWidth'] {
  const width = properties.get('tag')?.width
  if (width === undefined) throw meaningError('the width of the tag is not set', at)
  const { value } = width
  if (value.kind !== 'number' || value.value < 1n || value.value > MAX_TAG_WIDTH) {
    throw meaningError('the width of the tag must be a number from 1 to 8', value.at)
  }
  return { bytes: Number(value.value), at: width.at }
}

/** The record types of all scopes, in the same order. */
function buildRecords(
  scopes: readonly Scope[],
  predefined: ReadonlyMap<string, Definition>,
  dtd: DtdContext,
): RecordType[][] {
  let count = 0
  for (const { records } of scopes) {
    for (const { syntax } of records.values()) {
      if (++count > MAX_RECORDS) throw limitError(`there are more than ${MAX_RECORDS} records`, syntax.name.at)
    }
  }
  const builder = new RecordBuilder(dtd)
  const standard: DtdContext = { ...dtd, reservedFields: NO_NAMES }
  return scopes.map(({ records }) => {
    return [...records].map(([name, definition]) => {
      const original = predefined.get(name)
      if (original === undefined || definition.scope.id !== 0) return builder.build(definition)
      const model = new RecordBuilder(standard).build(original)
      if (definition === original) return model
      const stated = new RecordBuilder(standard).build(definition)
      checkRestated(stated, model)
      return stated
    })
  })
}

/**
 * What each tag means: what is defined here, then what holds everywhere. Throws where two records have the same one.
 */
function tags(
  own: readonly RecordType[],
  outer: ReadonlyMap<number, RecordType>,
  predefined: ReadonlyMap<string, Definition>,
): Map<number, RecordType> {
  const table = new Map<number, RecordType>()
  const add = (record: RecordType): void => {
    if (record.tag === null) return
    const before = table.get(record.tag)
    if (before !== undefined) {
      const reason = `record ${quote(record.name)} has the tag ${record.tag} of record ${quote(before.name)}`
      throw meaningError(reason, record.at, 'first defined', before.at)
    }
    table.set(record.tag, record)
  }
  // The predefined ones are needed in every section, so that none can take their tags; others of the global section
  // give way.
  for (const record of outer.values()) if (predefined.has(record.name)) add(record)
  for (const record of own) add(record)
  for (const [tag, record] of outer) if (!table.has(tag)) table.set(tag, record)
  return table
}

/**
 * What a section consists of if it is a table: one record type, be it with a tag or the only one without, and in it one
 * value, which is no more than a number.
 */
function tableElement(records: readonly RecordType[]): Element | null {
  const tagged = records.filter(({ tag }) => tag !== null)
  const [record, ...others] = tagged.length > 0 ? tagged : records
  if (record === undefined || others.length > 0) return null
  const leaves = record.leaves.slice(record.tag === null ? 0 : 1)
  const [leaf] = leaves
  if (leaf === undefined || leaves.length > 1 || leaf.type === 'bytes' || leaf.interpretation.kind === 'sectionStride')
    return null
  return record.fields.includes(leaf) && leaf.width?.kind !== 'reference' ? { record, position: leaf.position } : null
}
