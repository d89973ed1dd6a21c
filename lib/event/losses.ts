import type { EventBatch } from './batch.js'
import { unencodable } from './error.js'
import { FIELDS, KINDS, fieldNames, type FieldName, type KindName } from './fields.js'

/** Which fields a format can carry on each kind of event; a kind that is missing has no place in the format. */
export type Carried = Readonly<Partial<Record<KindName, number>>>

const FIELD_BITS = 2 ** FIELDS.length

interface Tally {
  events: number
}

/**
 * Counts what an encoder leaves out, so that nothing is lost in silence: every encoder passes each batch through
 * `admit` before writing it.
 */
export class Losses {
  private readonly carried = new Int32Array(KINDS.length)
  private readonly dropped = new Uint8Array(KINDS.length)
  /** Events per combination of kind and lost fields. */
  private readonly tally = new Map<number, Tally>()
  /** By kind, the fields that the last one of its events lost, and their tally: most lose the same as those before. */
  private readonly lastLost = new Int32Array(KINDS.length)
  private readonly last: (Tally | undefined)[] = KINDS.map(() => undefined)
  private readonly reasons = new Map<string, number>()
  private events = 0
  /** How many events came before the batch that was admitted last. */
  private before = 0
  /** The fields that the format had a place for on some kind of event. */
  private anywhere = 0
  /** The fields that it has a place for on every kind; undefined if it has none for some kind. */
  private everywhere: number | undefined

  /**
   * @param format the target format's name, for messages
   * @param carried what the format has a place for
   * @param strict makes the first loss an error
   */
  constructor(private readonly format: string, carried: Carried, private readonly strict = false) {
    this.use(carried)
  }

  /** Changes what the format has a place for, from the next batch on: another version of the format begins. */
  use(carried: Carried): void {
    this.last.fill(undefined)
    KINDS.forEach((kind, code) => {
      const fields = carried[kind]
      this.dropped[code] = fields === undefined ? 1 : 0
      this.carried[code] = fields ?? 0
    })
    this.everywhere = this.dropped.includes(1) ? undefined : this.carried.reduce((all, fields) => all & fields)
  }

  /**
   * Counts what of a batch has no place in the format.
   * @returns how many of the batch's events, from the first, are to be written: all, unless in strict mode one loses something
   */
  admit(batch: EventBatch): number {
    const { mask, kind, count } = batch
    const { carried, dropped, last, lastLost, strict } = this
    this.before = this.events
    this.anywhere |= carried.reduce((all, fields) => all | fields, 0)
    if (this.everywhere !== undefined && (batch.columns & ~this.everywhere) === 0) {
      this.events += count
      return count
    }
    for (let i = 0; i < count; i++) {
      const code = kind[i] as number
      const lost = (mask[i] as number) & ~(carried[code] as number)
      if (lost === 0 && dropped[code] === 0) continue
      if (strict) return i
      let tally = last[code]
      if (tally === undefined || lost !== lastLost[code]) tally = this.tallyOf(code, lost)
      tally.events++
    }
    this.events += count
    return count
  }

  private tallyOf(code: number, lost: number): Tally {
    const key = code * FIELD_BITS + (this.dropped[code] === 1 ? 0 : lost)
    let tally = this.tally.get(key)
    if (tally === undefined) this.tally.set(key, (tally = { events: 0 }))
    this.last[code] = tally
    this.lastLost[code] = lost
    return tally
  }

  /** Counts event i of the batch admitted last: it had to be left out, or was changed, for a reason that only its value shows. */
  note(reason: string, _batch: EventBatch, i: number): void {
    if (this.strict) throw unencodable(reason, { format: this.format, event: this.before + i + 1 })
    this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1)
  }

  /** The error for the event at which `admit` stopped. */
  refusal(batch: EventBatch, i: number): Error {
    const kind = KINDS[batch.kind[i] as number] as KindName
    const fields = fieldNames((batch.mask[i] as number) & ~(this.carried[batch.kind[i] as number] as number))
    const what = this.dropped[batch.kind[i] as number] === 1 ? `${kind} events` : `${fields.join(', ')} of ${kind} events`
    return unencodable(`has no place for ${what}`, { format: this.format, event: this.events + i + 1 })
  }

  /**
   * How many events lost what. Keys: a field's name (`time`), a field of the kinds that cannot carry it where others
   * can (`size of free`), a kind left out whole (`reserve events`), or a reason given to `note`.
   */
  get counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    const add = (name: string, n: number) => counts.set(name, (counts.get(name) ?? 0) + n)
    const known = new Set<FieldName>(fieldNames(this.anywhere))
    for (const [key, { events: n }] of this.tally) {
      const kind = KINDS[Math.floor(key / FIELD_BITS)] as KindName
      const lost = key % FIELD_BITS
      // An event that is written loses some field, so no field at all stands for a kind that is left out whole.
      if (lost === 0) add(`${kind} events`, n)
      else {
        for (const name of fieldNames(lost)) add(known.has(name) ? `${name} of ${kind}` : name, n)
      }
    }
    for (const [reason, n] of this.reasons) add(reason, n)
    return counts
  }
}
