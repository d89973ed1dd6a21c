import { meaningError, quote } from '../errors.js'
import type { Leaf, Place } from '../model.js'
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
  /** The predefined record type that this one states again, whose properties hold where this one has none. */
  readonly restates: Definition | null
  /** Whether the language itself defines it. */
  readonly predefined: boolean
}

/** The properties that one scope or record gives to the fields of a name. */
interface FieldProperties {
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
  // Predefined ones come first, in their own order, whether they are stated again or not.
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

/** A repetition, and the one around it. */
export interface Loop {
  readonly outer: Loop | null
}

/** The names of one record type while its fields are laid out, be it for itself or inside another record. */
export class NameScope {
  /** The leaves laid out so far, by name. */
  private readonly leaves = new Map<string, { leaf: Leaf; loop: Loop | null }[]>()
  /** Repetitions whose counts are fields at that place only. */
  readonly counts = new Map<string, Place>()
  private mentions: Map<string, { name: Name; type: Name | null; count: boolean }> | null = null

  constructor(
    readonly definition: Definition,
    /** This record type and those it is used in, outermost first. */
    readonly stack: readonly Definition[],
    /** Where the names of its fields' types are looked up. */
    readonly scope: Scope,
    /** The properties that hold for its fields. */
    readonly chain: Chain,
    readonly syntax: readonly FieldSyntax[],
  ) {}

  /** The record type's name. */
  get name(): Name {
    return this.definition.syntax.name
  }

  /** Makes a leaf known to those after it. */
  add(leaf: Leaf, loop: Loop | null): void {
    const same = this.leaves.get(leaf.name)
    if (same === undefined) this.leaves.set(leaf.name, [{ leaf, loop }])
    else same.push({ leaf, loop })
  }

  /** Whether a leaf of that name was laid out already. */
  has(name: string): boolean {
    return this.leaves.has(name)
  }

  /** The first field of that name in the whole list (rather a field than a mere count), or null. */
  mention(name: string): { name: Name; type: Name | null; count: boolean } | null {
    if (this.mentions === null) {
      this.mentions = new Map()
      for (const mention of namesIn(this.syntax)) {
        const before = this.mentions.get(mention.name.text)
        if (before === undefined || (before.count && !mention.count)) this.mentions.set(mention.name.text, mention)
      }
    }
    return this.mentions.get(name) ?? null
  }

  /**
   * The one leaf that a name means inside `loop`. Throws if there is none, or more than one, or it is not an int;
   * `what` names the reference.
   */
  refer(name: Name, loop: Loop | null, what: string): Leaf {
    const fail = (reason: string, note: string, other: Place): never => {
      throw meaningError(`${what} refers to ${quote(name.text)}, ${reason}`, name.at, note, other)
    }
    const record = quote(this.name.text)
    let found: Leaf | null = null
    let hidden: Leaf | null = null
    for (const { leaf, loop: around } of this.leaves.get(name.text) ?? []) {
      if (!encloses(around, loop)) hidden = leaf
      else if (found === null) found = leaf
      else return fail(`of which record ${record} has several before that`, 'the second', leaf.at)
    }
    if (found?.type === 'int') return found
    if (found !== null) return fail('which is not an int field', 'it is', found.at)
    if (hidden !== null) return fail('which is inside a repetition', 'it is', hidden.at)
    const mention = this.mention(name.text)
    if (mention === null)
      return fail(`which record ${record} does not have`, `record ${record} is defined`, this.name.at)
    if (isTyped(mention, this.scope)) return fail('which is a record type', 'used', mention.name.at)
    return fail('which does not come before it', 'it is', mention.name.at)
  }
}

/** Whether a field is of a record type, by its name or explicitly. */
export function isTyped({ name, type }: { name: Name; type: Name | null }, { records, parent }: Scope): boolean {
  return type !== null || records.has(name.text) || (parent !== null && parent.records.has(name.text))
}

function encloses(outer: Loop | null, loop: Loop | null): boolean {
  let at = loop
  while (at !== null && at !== outer) at = at.outer
  return at === outer
}
