import { meaningError, quote } from '../errors.js'
import type { DtdContext } from './leaf.js'
import type { Dtd, Element, RecordType, Section, Version } from '../model.js'
import { parseSyntax } from './parser.js'
import { checkRestated } from './predefined.js'
import { placeOf, propertiesOfRecord, RecordBuilder, RESERVED_FIELDS } from './record.js'
import { findRecord, type Definition, type PropertyTable, type Scope } from './syntax.js'

const MAX_TAG_WIDTH = 8n

/**
 * Makes the model of a DTD: parses it, looks up all names and checks all rules. Throws a DtdError at the first one that
 * is broken.
 */
export function modelOf(text: string, file: string): Dtd {
  const { version, headers, scopes } = parseSyntax(text, file)
  const [global] = scopes
  // Fields of a predefined type have that type as the DTD states it.
  const predefined = new Set<string>()
  for (const [name, { scope, restates, predefined: isPredefined }] of global.records) {
    if (!isPredefined && restates === null) continue
    predefined.add(name)
    const own = isPredefined ? scope : (restates as Definition).scope
    own.records.set(name, global.records.get(name) as Definition)
  }
  for (const scope of scopes) checkProperties(scope, version)
  const dtd: DtdContext = {
    version,
    tagWidth: version === '1.0' ? tagWidth(global) : null,
    sections: new Set(scopes.slice(1).map(({ id }) => id)),
    strides: [],
  }
  const builder = new RecordBuilder(dtd)
  const globalTags = new Map<number, RecordType>()
  const sections = scopes.map(({ name: { text: name, at }, id, records }): Section => {
    const own = [...records.values()].map((definition) => build(definition, builder))
    if (id > 0) return { name, id, records: own, tags: tags(own, globalTags, predefined), element: elementOf(own), at }
    for (const [tag, record] of tags(own, globalTags, predefined)) globalTags.set(tag, record)
    return { name, id, records: own, tags: globalTags, element: null, at }
  })
  for (const { section, at: place } of dtd.strides) {
    const { element, name, at: other } = sections.find(({ id }) => id === section) as Section
    if (element !== null) continue
    const table = 'one record type with one field of fixed width'
    const reason = `section ${section} is no table, which sectionStride needs: ${table}`
    throw meaningError(reason, place, `section ${quote(name)} is defined`, other)
  }
  return { version, file, headers, tagWidth: dtd.tagWidth?.bytes ?? null, sections }
}

/** The rules for properties wherever they stand; those that hold for a certain field are checked with that field. */
function checkProperties(scope: Scope, version: Version): void {
  const reserved: readonly string[] = RESERVED_FIELDS[version]
  for (const [field, properties] of scope.properties) {
    const { at } = placeOf(properties)
    if (reserved.includes(field)) throw meaningError(`${quote(field)} is reserved and cannot be a field`, at)
    const record = findRecord(scope, field)
    if (record !== undefined) throw propertiesOfRecord(field, at, 'defined', record.name.at)
    if (field === 'tag' && properties.value !== undefined)
      throw meaningError('the value of a tag can be set in a record only', properties.value.field.at)
  }
  checkTag(scope.properties, scope.parent === null)
  for (const { properties } of scope.records.values()) checkTag(properties, false)
}

/** The tag's width is set once, globally; it is always stored with interpretation none. */
function checkTag(table: PropertyTable, isGlobal: boolean): void {
  const { width, interpretation, type } = table.get('tag') ?? {}
  if (width !== undefined && !isGlobal)
    throw meaningError('the width of the tag can be set globally only', width.field.at)
  if (interpretation !== undefined && interpretation.value.name !== 'none') {
    const reason = `the interpretation of the tag is always none, not ${interpretation.value.name}`
    throw meaningError(reason, interpretation.field.at)
  }
  if (type?.value === 'string') throw meaningError('the tag is always an int', type.field.at)
}

function tagWidth({ properties, name }: Scope): DtdContext['tagWidth'] {
  const width = properties.get('tag')?.width
  if (width === undefined) throw meaningError('the width of the tag is not set', name.at)
  const { value, field } = width
  if (value.kind !== 'number' || value.value < 1n || value.value > MAX_TAG_WIDTH)
    throw meaningError('the width of the tag must be a number from 1 to 8', value.at)
  return { bytes: Number(value.value), at: field.at }
}

function build(definition: Definition, builder: RecordBuilder): RecordType {
  const record = builder.build(definition)
  if (definition.restates !== null) checkRestated(record, builder.build(definition.restates))
  return record
}

/**
 * The record of each tag: first the section's own, then the global ones. Throws where two records have the same one.
 */
function tags(
  own: readonly RecordType[],
  outer: ReadonlyMap<number, RecordType>,
  predefined: ReadonlySet<string>,
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
 * The element of a section that is a table: a single record type, either with a tag or the only one without, that
 * consists of one number.
 */
function elementOf(records: readonly RecordType[]): Element | null {
  const tagged = records.filter(({ tag }) => tag !== null)
  const [record, ...others] = tagged.length > 0 ? tagged : records
  if (record === undefined || others.length > 0) return null
  const leaves = record.leaves.slice(record.tag === null ? 0 : 1)
  const [leaf] = leaves
  if (leaf === undefined || leaves.length > 1 || leaf.type === 'bytes' || leaf.interpretation.kind === 'sectionStride')
    return null
  return record.fields.includes(leaf) && leaf.width?.kind !== 'reference' ? { record, position: leaf.position } : null
}
