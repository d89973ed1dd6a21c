import { meaningError, quote } from '../errors.js'
import type { Leaf, Place } from '../model.js'
import { namesIn, type Chain, type Definition, type Scope } from './scope.js'
import type { FieldSyntax, Name } from './syntax.js'

/** A repetition, and the one around it. */
export interface Loop {
  readonly outer: Loop | null
}

/** The names of one record type while its fields are laid out, be it for itself or inside another record. */
export class Frame {
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

  /** Makes a leaf known to those behind it. */
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
   * The one leaf that a name means inside `loop`. Throws if there is none, or more than one, or it is no int; `what`
   * refers to it.
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
