import type { CoreFieldName, KindName } from './fields.js'

/**
 * The set of fields of the core that a format can represent, for each kind of event. The format has no record for a
 * kind that is missing. A format carries the fields of groups on every kind that it has, or on none (`Format.groups`).
 */
export type Carried = Readonly<Partial<Record<KindName, number>>>

/** A field that every record of some kinds has, so that an event without it is read back with a value. */
export interface Filling {
  readonly field: CoreFieldName
  readonly kinds: readonly KindName[]
  /** The value that is written if an event does not have it, for messages: `0`. */
  readonly as: string
}

/** The data that an encoder has dropped or filled in so far. */
export interface LossCounts {
  /**
   * The number of events for each loss, in the order of kinds. Keys: a field's name (`time`), a field of a kind that
   * cannot carry it although other kinds can (`size of free`), a kind that is dropped (`reserve events`), a field that
   * was filled in (`no thread, written as 0`), or a reason as text.
   */
  readonly counts: ReadonlyMap<string, number>
}
