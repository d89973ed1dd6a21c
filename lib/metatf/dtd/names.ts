import { meaningError, quote } from '../errors.js'
import type { Leaf, Place } from '../model.js'
import * as Syntax from './syntax.js'

/** A field or the number of its repetitions, where it stands in a list of fields. */
interface Mention {
  readonly name: Syntax.Name
  readonly type: Syntax.Name | null
  readonly isCount: boolean
}

/** The names in a list of fields, those in its composites too: all that properties of the record can be about. */
function* namesIn(fields: readonly Syntax.FieldSyntax[]): Generator<Mention> {
  for (const field of fields) {
    if (field.kind === 'name') yield { name: field.name, type: field.type, isCount: false }
    else if (field.kind === 'composite') yield* namesIn(field.fields)
    else {
      yield { name: field.count, type: null, isCount: true }
      yield* namesIn([field.field])
    }
  }
}

/** Whether a field is of a record type, by its name or explicitly. */
export function isTyped({ name, type }: Pick<Mention, 'name' | 'type'>, scope: Syntax.Scope): boolean {
  return type !== null || Syntax.findRecord(scope, name.text) !== undefined
}

/** The names of one record type while its fields are laid out, be it for itself or inside another record. */
export class NameScope {
  /** The leaves laid out so far, by name, each with the path of the repetition that it is in. */
  private readonly leaves = new Map<string, { leaf: Leaf; loop: string }[]>()
  /** Repetitions whose counts are fields at that place only. */
  readonly counts = new Map<string, Place>()
  private mentions: Map<string, Mention> | null = null

  constructor(
    readonly definition: Syntax.Definition,
    /** This record type and those it is used in, outermost first. */
    readonly stack: readonly Syntax.Definition[],
    /** The scope in which the names of its fields' types are looked up. */
    readonly scope: Syntax.Scope,
    /** The properties that hold for its fields, the innermost first. */
    private readonly chain: readonly Syntax.PropertyTable[],
    readonly syntax: readonly Syntax.FieldSyntax[],
  ) {}

  /** The record type's name. */
  get name(): Syntax.Name {
    return this.definition.name
  }

  /** The property that holds for a field, and how far inside it was found: 0 is innermost. */
  find<Kind extends keyof Syntax.FieldProperties>(field: string, kind: Kind) {
    for (let depth = 0; depth < this.chain.length; depth++) {
      const found = this.chain[depth]?.get(field)?.[kind]
      if (found !== undefined) return { found: found as NonNullable<Syntax.FieldProperties[Kind]>, depth }
    }
    return null
  }

  /** Makes a leaf known to those after it. */
  add(leaf: Leaf, loop: string): void {
    const same = this.leaves.get(leaf.name)
    if (same === undefined) this.leaves.set(leaf.name, [{ leaf, loop }])
    else same.push({ leaf, loop })
  }

  /** Whether a leaf of that name was laid out already. */
  has(name: string): boolean {
    return this.leaves.has(name)
  }

  /** The first field of that name in the whole list (rather a field than a mere count), or null. */
  mention(name: string): Mention | null {
    if (this.mentions === null) {
      this.mentions = new Map()
      for (const mention of namesIn(this.syntax)) {
        const before = this.mentions.get(mention.name.text)
        if (before === undefined || (before.isCount && !mention.isCount)) this.mentions.set(mention.name.text, mention)
      }
    }
    return this.mentions.get(name) ?? null
  }

  /**
   * The one leaf that a name means inside `loop`. Throws if there is none, or more than one, or it is not an int;
   * `what` names the reference.
   */
  refer(name: Syntax.Name, loop: string, what: string): Leaf {
    const fail = (reason: string, note: string, other: Place): never => {
      throw meaningError(`${what} refers to ${quote(name.text)}, ${reason}`, name.at, note, other)
    }
    const record = `record ${quote(this.name.text)}`
    const all = this.leaves.get(name.text) ?? []
    let found: Leaf | undefined
    for (const { leaf, loop: around } of all) {
      if (!loop.startsWith(around)) continue
      if (found !== undefined) return fail(`of which ${record} has several before that`, 'the second', leaf.at)
      found = leaf
    }
    if (found?.type === 'int') return found
    if (found !== undefined) return fail('which is not an int field', 'it is', found.at)
    const hidden = all.at(-1)?.leaf
    if (hidden !== undefined) return fail('which is inside a repetition', 'it is', hidden.at)
    const mention = this.mention(name.text)
    if (mention === null) return fail(`which ${record} does not have`, `${record} is defined`, this.name.at)
    if (isTyped(mention, this.scope)) return fail('which is a record type', 'used', mention.name.at)
    return fail('which does not come before it', 'it is', mention.name.at)
  }
}
