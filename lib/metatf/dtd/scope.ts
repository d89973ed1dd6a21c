import { meaningError, quote } from '../errors.js'
import type { Place } from '../model.js'
import type {
  DefinitionsSyntax,
  FieldSyntax,
  InterpretationProperty,
  Name,
  PropertySyntax,
  RecordSyntax,
  TypeProperty,
  ValueProperty,
} from './syntax.js'

/** Where names are defined: the global scope, or a section inside it. */
export interface Scope {
  /** ID of the section, 0 for the global scope. */
  readonly id: number
  readonly name: string
  /** The global scope; null for itself. */
  readonly parent: Scope | null
  readonly properties: PropertyTable
  readonly records: Map<string, Definition>
  readonly at: Place
}

/** A record type, with what its names mean. */
export interface Definition {
  readonly syntax: RecordSyntax
  readonly scope: Scope
  readonly properties: PropertyTable
  /** The predefined record type that this one states anew, whose properties hold where this one has none. */
  readonly restates: Definition | null
  /** Whether the language itself defines it. */
  readonly predefined: boolean
}

/** The properties that one scope or record gives to the fields of a name. */
export interface FieldProperties {
  width?: ValueProperty
  value?: ValueProperty
  interpretation?: InterpretationProperty
  type?: TypeProperty
}

/** Properties by the name of the field. */
export type PropertyTable = ReadonlyMap<string, FieldProperties>

/** The tables that hold for a field, the innermost first. */
export type Chain = readonly PropertyTable[]

/** Puts properties into a table. Throws where a field is given the same one twice. */
export function propertyTable(properties: readonly PropertySyntax[]): PropertyTable {
  const table = new Map<string, FieldProperties>()
  for (const property of properties) {
    const { text } = property.field
    const entry = table.get(text) ?? {}
    const before = entry[property.property]
    if (before !== undefined) {
      const what = property.property === 'type' ? quote(text) : `the ${property.property} of ${quote(text)}`
      throw meaningError(`${what} is defined twice`, property.at, 'first defined', before.at)
    }
    Object.assign(entry, { [property.property]: property })
    table.set(text, entry)
  }
  return table
}

/** The property that holds for a field, and how far inside it was found: 0 is innermost. */
export function findProperty<P extends keyof FieldProperties>(
  chain: Chain,
  field: string,
  property: P,
): { found: NonNullable<FieldProperties[P]>; depth: number } | null {
  for (const [depth, table] of chain.entries()) {
    const found = table.get(field)?.[property]
    if (found !== undefined) return { found, depth }
  }
  return null
}

/** The tables of a scope and of those around it. */
export function scopeChain(scope: Scope): Chain {
  return scope.parent === null ? [scope.properties] : [scope.properties, scope.parent.properties]
}

/** The record type that a name means in a scope. */
export function findRecord(scope: Scope, name: string): Definition | null {
  return scope.records.get(name) ?? scope.parent?.records.get(name) ?? null
}

/** The record type that a name must mean in a scope. */
export function requireRecord(scope: Scope, { text, at }: Name): Definition {
  const found = findRecord(scope, text)
  if (found === null) throw meaningError(`there is no record type ${quote(text)}`, at)
  return found
}

/** Makes the record types of a scope known. Throws where a name is defined twice. */
export function defineRecords(
  scope: Scope,
  { records }: DefinitionsSyntax,
  predefined: ReadonlyMap<string, Definition>,
): void {
  const own = new Map<string, Definition>()
  for (const syntax of records) {
    const { text, at } = syntax.name
    const before = own.get(text)
    if (before !== undefined) {
      throw meaningError(`record ${quote(text)} is defined twice`, at, 'first defined', before.syntax.name.at)
    }
    const properties = propertyTable(syntax.properties)
    own.set(text, { syntax, scope, properties, restates: predefined.get(text) ?? null, predefined: false })
  }
  // Predefined ones come first, in their own order, whether they are stated anew or not.
  for (const [name, definition] of predefined) scope.records.set(name, own.get(name) ?? definition)
  for (const [name, definition] of own) scope.records.set(name, definition)
}

/** The names in a list of fields, those in its composites too: all that properties of the record can be about. */
export function* namesIn(fields: readonly FieldSyntax[]): Generator<{ name: Name; type: Name | null; count: boolean }> {
  for (const field of fields) {
    if (field.kind === 'name') {
      yield { name: field.name, type: field.type, count: false }
    } else if (field.kind === 'composite') {
      yield* namesIn(field.fields)
    } else {
      yield { name: field.count, type: null, count: true }
      yield* namesIn([field.field])
    }
  }
}
