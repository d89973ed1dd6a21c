import { limitError, meaningError, quote, MAX_ALL_LEAVES, MAX_DEPTH, MAX_LEAVES } from '../errors.js'
import { LeafResolver, type DtdContext } from './leaf.js'
import { isTyped, NameScope } from './names.js'
import type { Composite, Field, Leaf, Place, RecordType, Role } from '../model.js'
import {
  findRecord,
  type Definition,
  type FieldSyntax,
  type Name,
  type PropertyTable,
  type Scope,
  type SimpleFieldSyntax,
} from './syntax.js'

/** Names that no field can have. The predefined record types can stand in a list of fields; 1.2 has none. */
export const RESERVED_FIELDS = { '1.0': ['width', 'interpretation', 'value'], '1.2': ['int', 'string'] } as const

/** Lays out the record types of one DTD. */
export class RecordBuilder {
  /** Leaves of all records so far. */
  private total = 0
  /** Leaves of the record at hand. */
  private leaves: Leaf[] = []
  /** The current depth of brackets and record types. */
  private depth = 0
  private readonly reserved: readonly string[]

  constructor(private readonly dtd: DtdContext) {
    this.reserved = RESERVED_FIELDS[dtd.version]
  }

  /** The record type of a definition. Throws a DtdError where it breaks a rule. */
  build(definition: Definition): RecordType {
    const { name, body, scope, predefined, restates } = definition
    this.leaves = []
    const names = namesFor(definition, [definition])
    checkProperties(definition, names)
    const fields = this.fields(names.syntax, names, '', true)
    if (!predefined && restates === null) this.total += this.leaves.length
    const first = this.leaves[0]
    const tag =
      fields[0] === first && first.name === 'tag' && first.value?.kind === 'number' ? Number(first.value.value) : null
    return {
      name: name.text,
      section: scope.id,
      predefined,
      role: tag === null ? 'type' : predefined || restates !== null ? (name.text as Role) : 'data',
      tag,
      of: 'text' in body ? body.text : null,
      fields,
      leaves: this.leaves,
      at: name.at,
    }
  }

  /** @param loop the path of the repetition around the fields */
  private fields(syntax: readonly FieldSyntax[], names: NameScope, loop: string, top = false): Field[] {
    return syntax.flatMap((field, i) => {
      return field.kind === 'repetition'
        ? this.repetition(field, names, loop)
        : this.field(field, names, loop, top && i === 0)
    })
  }

  /** Any field but a repetition; `first` if it begins the record, where alone the tag may be. */
  private field(syntax: SimpleFieldSyntax, names: NameScope, loop: string, first = false): Leaf | Composite {
    if (syntax.kind === 'name') {
      const { name, type } = syntax
      return isTyped(syntax, names.scope) ? this.nested(name, type ?? name, names) : this.leaf(name, names, loop, first)
    }
    const { fields, at } = syntax
    return {
      kind: 'composite',
      name: '',
      type: null,
      fields: this.inside(at, () => this.fields(fields, names, loop)),
      at,
    }
  }

  /** A record type used as a field. Its names are its own: references do not go in or out. */
  private nested(name: Name, type: Name, names: NameScope): Composite {
    if (name.text === 'tag') throw meaningError('the tag cannot be of a record type', type.at, 'it is', name.at)
    if (name !== type) this.checkFieldName(name, names)
    const definition = useType(names.scope, type, names.stack)
    const inner = namesFor(definition, [...names.stack, definition])
    const fields = this.inside(name.at, () => this.fields(inner.syntax, inner, '', true))
    return { kind: 'composite', name: name.text, type: type.text, fields, at: name.at }
  }

  /**
   * Lays out the parts of a composite. Brackets and record types count together: an event's values are nested as deep
   * as both.
   */
  private inside(at: Place, layOut: () => Field[]): Field[] {
    if (this.depth === MAX_DEPTH) throw limitError(`fields are nested more than ${MAX_DEPTH} deep`, at)
    this.depth++
    const fields = layOut()
    this.depth--
    return fields
  }

  /** A repeated field, and before it the field with the count, if that does not stand in the record already. */
  private repetition(syntax: FieldSyntax & { kind: 'repetition' }, names: NameScope, loop: string): Field[] {
    const { count } = syntax
    const before: Field[] = []
    if (names.counts.has(count.text)) {
      const advice = 'write it once, before both'
      const reason = `${quote(count.text)} counts two fields but stands only before the first; ${advice}`
      throw meaningError(reason, count.at, 'first used', names.counts.get(count.text))
    }
    const mention = names.mention(count.text)
    if (!names.has(count.text) && mention?.isCount === true && !isTyped(mention, names.scope)) {
      before.push(this.leaf(count, names, loop, false))
      names.counts.set(count.text, count.at)
    }
    const { position } = names.refer(count, loop, 'the repetition')
    const field = this.field(syntax.field, names, `${loop}${this.leaves.length}.`)
    return [...before, { kind: 'repetition', count: position, field, at: count.at }]
  }

  private leaf(name: Name, names: NameScope, loop: string, first: boolean): Leaf {
    this.checkFieldName(name, names)
    const record = () => `record ${quote(names.name.text)}`
    if (name.text === 'tag' && !first)
      throw meaningError("the tag must be a record's first field", name.at, `${record()} is defined`, names.name.at)
    const position = this.leaves.length
    if (position === MAX_LEAVES) throw limitError(`${record()} has more than ${MAX_LEAVES} fields`, name.at)
    if (this.total + position === MAX_ALL_LEAVES)
      throw limitError(`the records have more than ${MAX_ALL_LEAVES} fields`, name.at)
    const leaf = new LeafResolver(name, names, loop, this.dtd).resolve(position)
    this.leaves.push(leaf)
    names.add(leaf, loop)
    return leaf
  }

  private checkFieldName({ text, at }: Name, { definition: { predefined, restates } }: NameScope): void {
    if (!predefined && restates === null && this.reserved.includes(text))
      throw meaningError(`${quote(text)} is reserved and cannot be a field`, at)
  }
}

/**
 * The record type that is used inside others. Throws if there is none, if it would contain itself, or if it must not be
 * part of others.
 */
function useType(scope: Scope, { text, at }: Name, stack: readonly Definition[]): Definition {
  const found = findRecord(scope, text)
  if (found === undefined) throw meaningError(`there is no record type ${quote(text)}`, at)
  const from = stack.indexOf(found)
  if (from >= 0) {
    const names = [...stack.slice(from), found].map(({ name }) => name.text).join(', ')
    throw meaningError(`record type ${quote(text)} contains itself: ${names}`, at, 'defined', found.name.at)
  }
  if (stack.length > MAX_DEPTH) throw limitError(`record types are nested more than ${MAX_DEPTH} deep`, at)
  if (found.scope.parent === null && (text === 'section' || text === 'metadata'))
    throw meaningError(`${quote(text)} cannot be part of another record`, at)
  return found
}

/** The fields and properties of a record type; `stack` holds it and the record types that it is used in. */
function namesFor(definition: Definition, stack: readonly Definition[]): NameScope {
  const chain: PropertyTable[] = []
  let types = stack
  let base = definition
  for (;;) {
    const { body, scope, properties, restates } = base
    chain.push(properties)
    if (restates !== null) chain.push(restates.properties)
    if (!('text' in body)) {
      chain.push(scope.properties)
      if (scope.parent !== null) chain.push(scope.parent.properties)
      return new NameScope(definition, types, scope, chain, base === definition ? body : withTag(body, chain))
    }
    base = useType(scope, body, types)
    types = [...types, base]
  }
}

/** A record of a type without a tag that is given a value for it begins with one, as `comment : vfield` does. */
function withTag(fields: readonly FieldSyntax[], chain: readonly PropertyTable[]): readonly FieldSyntax[] {
  const tag = chain.find((table) => table.get('tag')?.value !== undefined)?.get('tag')?.value
  const [first] = fields
  if (tag === undefined || (first?.kind === 'name' && first.name.text === 'tag')) return fields
  return [{ kind: 'name', name: tag.field, type: null }, ...fields]
}

/** Every property in a record must concern one of the record's fields. */
function checkProperties({ name, properties }: Definition, names: NameScope): void {
  for (const [field, entry] of properties) {
    const { at } = placeOf(entry)
    const mention = names.mention(field)
    const record = `record ${quote(name.text)}`
    if (mention === null)
      throw meaningError(`${record} has no field ${quote(field)}`, at, `${record} is defined`, name.at)
    if (isTyped(mention, names.scope)) throw propertiesOfRecord(field, at, 'used', mention.name.at)
  }
}

/** The place of the first property of a field. */
export function placeOf(entry: object): Name {
  return (Object.values(entry)[0] as { field: Name }).field
}

/** The name that was taken for a field is a record type. */
export function propertiesOfRecord(field: string, at: Place, note: string, other: Place): Error {
  const reason = `${quote(field)} is a record type, which has no properties of its own`
  return meaningError(reason, at, note, other)
}
