import { limitError, meaningError, quote, MAX_ALL_LEAVES, MAX_DEPTH, MAX_LEAVES } from '../errors.js'
import { Frame, isTyped, type Loop } from './frame.js'
import { resolveLeaf, type Layout } from './leaf.js'
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

  constructor(private readonly layout: Layout) {}

  /** The record type of a definition. Throws a DtdError where it breaks a rule. */
  build(definition: Definition): RecordType {
    const { name, body } = definition.syntax
    this.leaves = []
    const frame = frameFor(definition, [definition])
    checkProperties(definition, frame)
    const fields = this.fields(frame.syntax, frame, null, true)
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
    return this.layout.version === '1.0' && (text === 'comment' || text === 'section' || text === 'metadata')
      ? text
      : 'data'
  }

  private fields(syntax: readonly FieldSyntax[], frame: Frame, loop: Loop | null, top = false): Field[] {
    return syntax.flatMap((field, i) => {
      return field.kind === 'repetition'
        ? this.repetition(field, frame, loop)
        : this.field(field, frame, loop, top && i === 0)
    })
  }

  /** Any field but a repetition; `first` if it begins the record, where alone the tag may be. */
  private field(syntax: SimpleFieldSyntax, frame: Frame, loop: Loop | null, first = false): Leaf | Composite {
    if (syntax.kind === 'composite') {
      return {
        kind: 'composite',
        name: '',
        type: null,
        fields: this.inside(syntax.at, () => this.fields(syntax.fields, frame, loop)),
        at: syntax.at,
      }
    }
    const { name, type } = syntax
    return isTyped(syntax, frame.scope) ? this.nested(name, type ?? name, frame) : this.leaf(name, frame, loop, first)
  }

  /** A record type used as a field. Its names are its own: references do not go in or out. */
  private nested(name: Name, type: Name, frame: Frame): Composite {
    if (name.text === 'tag') throw meaningError('the tag cannot be of a record type', type.at, 'it is', name.at)
    if (name !== type) this.checkFieldName(name)
    const definition = useType(frame.scope, type, frame.stack)
    const inner = frameFor(definition, [...frame.stack, definition])
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
  private repetition(syntax: FieldSyntax & { kind: 'repetition' }, frame: Frame, loop: Loop | null): Field[] {
    const { count, at } = syntax
    const before: Field[] = []
    if (frame.counts.has(count.text)) {
      const reason = `${quote(count.text)} counts two fields but stands only before the first; write it once, before both`
      throw meaningError(reason, count.at, 'first used', frame.counts.get(count.text))
    }
    const mention = frame.mention(count.text)
    if (!frame.has(count.text) && mention?.count === true && !isTyped(mention, frame.scope)) {
      before.push(this.leaf(count, frame, loop, false))
      frame.counts.set(count.text, count.at)
    }
    const { position } = frame.refer(count, loop, 'the repetition')
    return [
      ...before,
      { kind: 'repetition', count: position, field: this.field(syntax.field, frame, { outer: loop }), at },
    ]
  }

  private leaf(name: Name, frame: Frame, loop: Loop | null, first: boolean): Leaf {
    this.checkFieldName(name)
    const record = `record ${quote(frame.name.text)}`
    if (name.text === 'tag' && !first) {
      throw meaningError("the tag must be a record's first field", name.at, `${record} is defined`, frame.name.at)
    }
    const position = this.leaves.length
    if (position === MAX_LEAVES) throw limitError(`${record} has more than ${MAX_LEAVES} fields`, name.at)
    if (this.total + position === MAX_ALL_LEAVES)
      throw limitError(`the records have more than ${MAX_ALL_LEAVES} fields`, name.at)
    const leaf = resolveLeaf({ name, frame, loop, layout: this.layout }, position)
    this.leaves.push(leaf)
    frame.add(leaf, loop)
    return leaf
  }

  private checkFieldName({ text, at }: Name): void {
    if (this.layout.reservedFields.has(text)) throw meaningError(`${quote(text)} is reserved and cannot be a field`, at)
  }
}

/**
 * The record type that is used inside others. Throws if there is none, if it would contain itself, or may not be part
 * of others.
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
function frameFor(definition: Definition, stack: readonly Definition[]): Frame {
  const chain: PropertyTable[] = []
  let types = stack
  let base = definition
  for (;;) {
    chain.push(base.properties)
    if (base.restates !== null) chain.push(base.restates.properties)
    const { body } = base.syntax
    if (Array.isArray(body)) {
      chain.push(...scopeChain(base.scope))
      return new Frame(definition, types, base.scope, chain, base === definition ? body : withTag(body, chain))
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
function checkProperties({ syntax, properties }: Definition, frame: Frame): void {
  for (const [field, entry] of properties) {
    const { at } = Object.values(entry)[0] as { at: Place }
    const mention = frame.mention(field)
    const record = `record ${quote(syntax.name.text)}`
    if (mention === null)
      throw meaningError(`${record} has no field ${quote(field)}`, at, `${record} is defined`, syntax.name.at)
    if (isTyped(mention, frame.scope)) {
      throw meaningError(
        `${quote(field)} is a record type, which has no properties of its own`,
        at,
        'used',
        mention.name.at,
      )
    }
  }
}
