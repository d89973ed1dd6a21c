import { limitError, meaningError, quote, MAX_ALL_LEAVES, MAX_DEPTH, MAX_LEAVES } from '../errors.js'
import { NameScope, isTyped, type Loop } from './scope.js'
import { resolveLeaf, type DtdContext } from './field-types.js'
import type { Composite, Field, Leaf, Place, RecordType, Role } from '../model.js'
import { findProperty, requireRecord, scopeChain, type Chain, type Definition, type PropertyTable } from './scope.js'
import type { FieldSyntax, Name, SimpleFieldSyntax } from './syntax.js'

/** Lays out the record types of one DTD. */
export class RecordBuilder {
  /** Leaves of all records so far. */
  private total = 0
  /** Leaves of the record at hand. */
  private leaves: Leaf[] = []
  /** How many brackets and record types are around what is being laid out. */
  private depth = 0

  constructor(private readonly dtd: DtdContext) {}

  /** The record type of a definition. Throws a DtdError where it breaks a rule. */
  build(definition: Definition): RecordType {
    const { name, body } = definition.syntax
    this.leaves = []
    const names = namesFor(definition, [definition])
    checkProperties(definition, names)
    const fields = this.fields(names.syntax, names, null, true)
    this.total += this.leaves.length
    const first = this.leaves[0] as Leaf
    const tag =
      fields[0] === first && first.name === 'tag' && first.value?.kind === 'number' ? Number(first.value.value) : null
    return {
      name: name.text,
      section: definition.scope.id,
      predefined: definition.predefined,
      role: this.role(definition, tag),
      tag,
      of: Array.isArray(body) ? null : body.text,
      fields,
      leaves: this.leaves,
      at: name.at,
    }
  }

  private role({ syntax }: Definition, tag: number | null): Role {
    if (tag === null) return 'type'
    const { text } = syntax.name
    return this.dtd.version === '1.0' && (text === 'comment' || text === 'section' || text === 'metadata')
      ? text
      : 'data'
  }

  private fields(syntax: readonly FieldSyntax[], names: NameScope, loop: Loop | null, top = false): Field[] {
    return syntax.flatMap((field, i) => {
      return field.kind === 'repetition'
        ? this.repetition(field, names, loop)
        : this.field(field, names, loop, top && i === 0)
    })
  }

  /** Any field but a repetition; `first` if it begins the record, where alone the tag may be. */
  private field(syntax: SimpleFieldSyntax, names: NameScope, loop: Loop | null, first = false): Leaf | Composite {
    if (syntax.kind === 'composite') {
      return {
        kind: 'composite',
        name: '',
        type: null,
        fields: this.inside(syntax.at, () => this.fields(syntax.fields, names, loop)),
        at: syntax.at,
      }
    }
    const { name, type } = syntax
    return isTyped(syntax, names.scope) ? this.nested(name, type ?? name, names) : this.leaf(name, names, loop, first)
  }

  /** A record type used as a field. Its names are its own: references do not go in or out. */
  private nested(name: Name, type: Name, names: NameScope): Composite {
    if (name.text === 'tag') throw meaningError('the tag cannot be of a record type', type.at, 'it is', name.at)
    if (name !== type) this.checkFieldName(name)
    const definition = useType(names.scope, type, names.stack)
    const inner = namesFor(definition, [...names.stack, definition])
    const fields = this.inside(name.at, () => this.fields(inner.syntax, inner, null, true))
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
  private repetition(syntax: FieldSyntax & { kind: 'repetition' }, names: NameScope, loop: Loop | null): Field[] {
    const { count, at } = syntax
    const before: Field[] = []
    if (names.counts.has(count.text)) {
      const reason = `${quote(count.text)} counts two fields but stands only before the first; write it once, before both`
      throw meaningError(reason, count.at, 'first used', names.counts.get(count.text))
    }
    const mention = names.mention(count.text)
    if (!names.has(count.text) && mention?.count === true && !isTyped(mention, names.scope)) {
      before.push(this.leaf(count, names, loop, false))
      names.counts.set(count.text, count.at)
    }
    const { position } = names.refer(count, loop, 'the repetition')
    return [
      ...before,
      { kind: 'repetition', count: position, field: this.field(syntax.field, names, { outer: loop }), at },
    ]
  }

  private leaf(name: Name, names: NameScope, loop: Loop | null, first: boolean): Leaf {
    this.checkFieldName(name)
    const record = `record ${quote(names.name.text)}`
    if (name.text === 'tag' && !first) {
      throw meaningError("the tag must be a record's first field", name.at, `${record} is defined`, names.name.at)
    }
    const position = this.leaves.length
    if (position === MAX_LEAVES) throw limitError(`${record} has more than ${MAX_LEAVES} fields`, name.at)
    if (this.total + position === MAX_ALL_LEAVES)
      throw limitError(`the records have more than ${MAX_ALL_LEAVES} fields`, name.at)
    const leaf = resolveLeaf({ name, names, loop, dtd: this.dtd }, position)
    this.leaves.push(leaf)
    names.add(leaf, loop)
    return leaf
  }

  private checkFieldName({ text, at }: Name): void {
    if (this.dtd.reservedFields.has(text)) throw meaningError(`${quote(text)} is reserved and cannot be a field`, at)
  }
}

/**
 * The record type that is used inside others. Throws if there is none, if it would contain itself, or if it must not be
 * part of others.
 */
function useType(scope: Definition['scope'], type: Name, stack: readonly Definition[]): Definition {
  const found = requireRecord(scope, type)
  const from = stack.indexOf(found)
  if (from >= 0) {
    const names = [...stack.slice(from), found].map(({ syntax }) => syntax.name.text).join(', ')
    throw meaningError(
      `record type ${quote(type.text)} contains itself: ${names}`,
      type.at,
      'defined',
      found.syntax.name.at,
    )
  }
  if (stack.length > MAX_DEPTH) throw limitError(`record types are nested more than ${MAX_DEPTH} deep`, type.at)
  if (found.scope.parent === null && (type.text === 'section' || type.text === 'metadata')) {
    throw meaningError(`${quote(type.text)} cannot be part of another record`, type.at)
  }
  return found
}

/** The fields and properties of a record type; `stack` holds it and the record types that it is used in. */
function namesFor(definition: Definition, stack: readonly Definition[]): NameScope {
  const chain: PropertyTable[] = []
  let types = stack
  let base = definition
  for (;;) {
    chain.push(base.properties)
    if (base.restates !== null) chain.push(base.restates.properties)
    const { body } = base.syntax
    if (Array.isArray(body)) {
      chain.push(...scopeChain(base.scope))
      return new NameScope(definition, types, base.scope, chain, base === definition ? body : withTag(body, chain))
    }
    base = useType(base.scope, body, types)
    types = [...types, base]
  }
}

/** A record of a type without a tag that is given a value for it begins with one, as `comment : vfield` does. */
function withTag(fields: readonly FieldSyntax[], chain: Chain): readonly FieldSyntax[] {
  const tag = findProperty(chain, 'tag', 'value')?.found
  const [first] = fields
  if (tag === undefined || (first?.kind === 'name' && first.name.text === 'tag')) return fields
  return [{ kind: 'name', name: tag.field, type: null, at: tag.at }, ...fields]
}

/** Every property in a record must be about a field of its own. */
function checkProperties({ syntax, properties }: Definition, names: NameScope): void {
  for (const [field, entry] of properties) {
    const { at } = Object.values(entry)[0] as { at: Place }
    const mention = names.mention(field)
    const record = `record ${quote(syntax.name.text)}`
    if (mention === null)
      throw meaningError(`${record} has no field ${quote(field)}`, at, `${record} is defined`, syntax.name.at)
    if (isTyped(mention, names.scope)) {
      throw meaningError(
        `${quote(field)} is a record type, which has no properties of its own`,
        at,
        'used',
        mention.name.at,
      )
    }
  }
}
