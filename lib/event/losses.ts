import type { KindName } from './fields.js'

/**
 * What a format has a place for: the set of fields of each kind of event. A kind that is missing has no place in the
 * format.
 */
export type Carried = Readonly<Partial<Record<KindName, number>>>

/** What an encoder has left out so far. */
export interface LossCounts {
  /**
   * How many events lost what, in the order of kinds. Keys: a field's name (`time`), a field of the kinds that cannot
   * carry it where others can (`size of free`), a kind that is left out altogether (`reserve events`), or the reason in
   * words.
   */
  readonly counts: ReadonlyMap<string, number>
}
