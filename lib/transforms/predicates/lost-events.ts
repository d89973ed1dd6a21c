import type { EventBatch } from '../../event/batch.js'
import { earlyEnd, EARLY_END_NOTE } from '../../event/early-end.js'
import { FieldBit, Kind } from '../../event/fields.js'
import { plural } from '../../event/message-text.js'
import type { Predicate } from './predicates.js'

/** One criterion of a filter: the name of its option, and its test. */
export interface Criterion {
  readonly name: string
  readonly test: Predicate
}

/** The criteria that may concern `lost` events, and the field that such an event must have for that; 0 for none. */
const CONCERN: Readonly<Partial<Record<string, number>>> = {
  events: 0,
  kind: 0,
  cpu: FieldBit.cpu,
  thread: FieldBit.thread,
  process: FieldBit.process,
  heap: FieldBit.heap,
  time: FieldBit.time,
}
const CONCERNED = 1
const FAILED = 2

/**
 * Selects `lost` events, which say that the recorder lost others, and the event that says that a recording ended while
 * its program ran on. A criterion applies to such an event only if the event has the field, because the lost events may
 * have met the criterion. If no criterion applies, the event is kept. Its size is not the size of a block, but of what
 * was lost. The caller decides which kinds to keep; there is a warning of what this drops.
 */
export class LostEvents {
  private readonly criteria: readonly (Criterion & { readonly has: number })[]
  private rows = new Int32Array(0)
  private part = new Int32Array(0)
  private states = new Uint8Array(0)
  private count = 0
  /** The number of `lost` events that the kinds to keep have dropped. */
  private dropped = 0
  private hasDroppedEnd = false

  constructor(
    criteria: readonly Criterion[],
    private readonly invert: boolean,
  ) {
    const concerning = criteria.flatMap((one) => {
      const has = CONCERN[one.name]
      return has === undefined ? [] : [{ ...one, has }]
    })
    // Kinds come last: only what would be kept otherwise counts as dropped.
    const isKind = ({ name }: Criterion) => name === 'kind'
    this.criteria = [...concerning.filter((one) => !isKind(one)), ...concerning.filter(isKind)]
  }

  /** Searches a batch for them. @returns whether it has any */
  find(batch: EventBatch): boolean {
    const { kind, count } = batch
    this.count = 0
    const end = earlyEnd(batch, 0, count)
    const lost = kind.indexOf(Kind.lost)
    if (end < 0 && (lost < 0 || lost >= count)) return false
    if (this.rows.length < count) {
      this.rows = new Int32Array(count)
      this.part = new Int32Array(count)
      this.states = new Uint8Array(count)
    }
    for (let at = lost < 0 ? end : end < 0 ? lost : Math.min(lost, end); at < count; at++)
      if (kind[at] === Kind.lost || at === end) this.rows[this.count++] = at
    return true
  }

  /** Sets `labels[i]` of those found to 1 if event i is to be kept, else to 0. @param before as for a `Predicate` */
  label(batch: EventBatch, labels: Uint32Array, before: number): void {
    const { rows, part, states, count, invert } = this
    for (let j = 0; j < count; j++) states[rows[j]] = 0
    for (const { name, test, has } of this.criteria) {
      let n = 0
      for (let j = 0; j < count; j++) {
        const row = rows[j]
        if ((batch.mask[row] & has) !== has || (states[row] & FAILED) !== 0) continue
        // Until the test has kept it.
        states[row] = CONCERNED | FAILED
        part[n++] = row
      }
      const lost = lostIn(batch, part, n)
      const kept = n === 0 ? 0 : test(batch, part, n, before)
      for (let j = 0; j < kept; j++) states[part[j]] = CONCERNED
      if (name !== 'kind' || invert) continue
      const dropped = lost - lostIn(batch, part, kept)
      this.dropped += dropped
      if (n - kept > dropped) this.hasDroppedEnd = true
    }
    for (let j = 0; j < count; j++) {
      const row = rows[j]
      const state = states[row]
      labels[row] = state === 0 || ((state & FAILED) !== 0) === invert ? 1 : 0
    }
  }

  /** Sentences about what the kinds to keep have dropped, if anything. */
  warnings(): string[] {
    const places = plural(this.dropped, 'place')
    return [
      ...(this.dropped === 0
        ? []
        : [`the recorder lost events in ${places}, which kind left out: kind lost keeps them`]),
      ...(this.hasDroppedEnd ? [`${EARLY_END_NOTE}; kind left out the event that says so: kind other keeps it`] : []),
    ]
  }
}

/** The number of `lost` events among the first `n` rows. */
function lostIn({ kind }: EventBatch, rows: Int32Array, n: number): number {
  let lost = 0
  for (let j = 0; j < n; j++) if (kind[rows[j]] === Kind.lost) lost++
  return lost
}
