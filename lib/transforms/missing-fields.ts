import type { EventBatch } from '../event/batch.js'
import { anyFieldSet, fieldNames, groupFieldNames, type FieldName } from '../event/fields.js'

/** Determines which of the required fields no event of a stream has. */
export class MissingFields {
  /** The required fields of the core and of groups that were not found yet. */
  private core: number
  private groups: number
  /** All columns of the batches. */
  private columns = 0
  private groupColumns = 0
  private events = 0

  /** @param wanted the required fields */
  constructor(wanted: readonly FieldName[]) {
    ;({ core: this.core, groups: this.groups } = anyFieldSet(wanted))
  }

  /** Examines the events of a batch; costs nothing once all fields have been found. */
  look({ mask, count, columns, groups }: EventBatch): void {
    const { core } = this
    if ((core | this.groups) === 0) return
    this.events += count
    this.columns |= columns
    if (groups !== undefined) {
      this.groupColumns |= groups.columns
      this.groups &= ~groups.used(count)
    }
    if ((columns & core) === 0) return
    let found = 0
    for (let i = 0; i < count && (found & core) !== core; i++) found |= mask[i]
    this.core &= ~found
  }

  /**
   * A sentence for each field that no event had; none for a stream without events.
   * @param consequence the effect, for the sentence
   * @param instead the advice to use other fields
   * @param useful the fields that can be used instead; all by default
   * @param holders fields that contain the same information as others
   */
  warnings(
    consequence: string,
    instead: string,
    useful?: readonly FieldName[],
    holders: Readonly<Partial<Record<FieldName, FieldName>>> = {},
  ): string[] {
    if (this.events === 0) return []
    const missing: FieldName[] = [...fieldNames(this.core), ...groupFieldNames(this.groups)]
    const there: FieldName[] = [...fieldNames(this.columns), ...groupFieldNames(this.groupColumns)]
    const others = there.filter((name) => !missing.includes(name) && useful?.includes(name) !== false)
    const advice = others.length === 0 ? '' : `: ${instead} what the events have: ${others.join(', ')}`
    return missing.map((name) => {
      const holder = holders[name]
      const hint =
        holder !== undefined && there.includes(holder)
          ? `: the names are in the field ${holder}: ${instead} that (--${holder})`
          : advice
      return `no event has the field ${name}, ${consequence}${hint}`
    })
  }
}
