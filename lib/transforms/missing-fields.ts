import type { EventBatch } from '../event/batch.js'
import { ALL_FIELDS, FieldBit, fieldNames, type FieldName } from '../event/fields.js'

/** Determines which of the required fields no event of a stream has. */
export class MissingFields {
  /** The fields found, and all columns of the batches. */
  private found = 0
  private columns = 0
  private events = 0

  /** @param wanted the set of required fields */
  constructor(private readonly wanted: number) {}

  /** Examines the events of a batch; costs nothing once all fields have been found. */
  look({ mask, count, columns }: EventBatch): void {
    const missing = this.wanted & ~this.found
    if (missing === 0) return
    this.events += count
    this.columns |= columns
    if ((columns & missing) === 0) return
    let found = 0
    for (let i = 0; i < count && (found & missing) !== missing; i++) found |= mask[i]
    this.found |= found & missing
  }

  /**
   * A sentence for each field that no event had; none for a stream without events.
   * @param consequence the effect, for the sentence
   * @param instead the advice to use other fields
   * @param useful the fields that can be used instead
   * @param holders fields that contain the same information as others
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
