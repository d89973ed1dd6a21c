import type { EventBatch } from '../event/batch.js'
import { ALL_FIELDS, FieldBit, fieldNames, type FieldName } from '../event/fields.js'

/** Finds out which of some fields no event of a stream has, although something depends on them. */
export class MissingFields {
  /** The fields that were found, and all columns that batches had. */
  private found = 0
  private columns = 0
  private events = 0

  /** @param wanted the set of fields to look for */
  constructor(private readonly wanted: number) {}

  /** Looks at the events of a batch; at no cost once each field was found. */
  look({ mask, count, columns }: EventBatch): void {
    const missing = this.wanted & ~this.found
    if (missing === 0) return
    this.events += count
    this.columns |= columns
    if ((columns & missing) === 0) return
    let found = 0
    for (let i = 0; i < count && (found & missing) !== missing; i++) found |= mask[i] as number
    this.found |= found & missing
  }

  /**
   * A sentence for each field that no event had; none for a stream without events.
   * @param consequence what follows from it
   * @param instead what to do with other fields
   * @param useful the fields that can be used in its place
   * @param holders fields that hold what some fields have, too
   */
  warnings(
    consequence: string,
    instead: string,
    useful: number = ALL_FIELDS,
    holders: Readonly<Partial<Record<FieldName, FieldName>>> = {},
  ): string[] {
    if (this.events === 0) return []
    const others = fieldNames(this.columns & useful & ~(this.wanted & ~this.found))
    const advice = others.length === 0 ? '' : `: ${instead} what the events have: ${others.join(', ')}`
    return fieldNames(this.wanted & ~this.found).map((name) => {
      const holder = holders[name]
      const hint =
        holder !== undefined && (this.columns & FieldBit[holder]) !== 0
          ? `: the names are in the field ${holder}: ${instead} that (--${holder})`
          : advice
      return `no event has the field ${name}, ${consequence}${hint}`
    })
  }
}
