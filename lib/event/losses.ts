import type { FieldName, KindName } from './fields.js'

/**
 * What a format can represent: the set of fields of each kind of event. The format has no record for a kind
 * that is missing.
 */
export type Carried = Readonly<Partial<Record<KindName, number>>>

/** A field that every record of some kinds has: an event without it would come back with another value than none. */
export interface Filling {
  readonly field: FieldName
  readonly kinds: readonly KindName[]
  /** The value that is written if an event does not have it, for messages: `0`. */
  readonly as: string
}

/** What an encoder has left out or filled in so far. */
export interface LossCounts {
  /**
   * How many events lost what, in the order of kinds. Keys: a field's name (`time`), a field of the kinds that cannot
   * carry it where others can (`size of free`), a kind that is left out altogether (`reserve events`), a field that was
   * filled in (`no thread, written as 0`), or the reason in words.
   */
  readonly counts: ReadonlyMap<string, number>
}
