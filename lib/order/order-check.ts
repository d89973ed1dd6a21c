import { HI, LO } from '../bytes/u64.js'
import type { EventBatch } from '../event/batch.js'
import { FieldBit } from '../event/fields.js'
import { plural } from '../event/message-text.js'

const { sequence: HAS_SEQUENCE, time: HAS_TIME } = FieldBit

/** The fields by which traces can be merged. */
export const MERGE_ORDERS = ['time', 'sequence'] as const

/** The field by which traces are merged. */
export type MergeOrder = (typeof MERGE_ORDERS)[number]

/** The findings about a stream of events that should be in order. Events are numbered from 1. */
export interface OrderStatistics {
  /** The number of events, with or without the field. */
  events: number
  /** Events that follow one with a greater value. */
  late: number
  /** The number of the first of them. */
  firstLate?: number
  /** Events whose sequence number is the greatest so far, again. One that repeats a smaller number is late. */
  duplicates: number
  /** The number of the first of them. */
  firstDuplicate?: number
  /** Places where sequence numbers are missing. */
  gaps: number
  /** The total number of missing numbers. */
  missing: number
  /** The first gap: the number before it, and the event after it. */
  firstGap?: { readonly after: number; readonly event: number }
}

/**
 * Checks the order of passing events: whether times or sequence numbers decrease, or sequence numbers are missing or
 * duplicated. Sequence numbers are compared in serial-number arithmetic, because they wrap.
 */
export class OrderChecker {
  readonly statistics: OrderStatistics = { events: 0, late: 0, duplicates: 0, gaps: 0, missing: 0 }
  /** The greatest value so far: a sequence number, or the words of a time. */
  private number: number | undefined
  private lo = 0
  private hi = 0

  constructor(readonly by: MergeOrder) {}

  /** Checks the next events. */
  take(batch: EventBatch): void {
    if (this.by === 'sequence') this.takeSequence(batch)
    else this.takeTime(batch)
    this.statistics.events += batch.count
  }

  private takeSequence({ mask, sequence, count }: EventBatch): void {
    let { number } = this
    for (let i = 0; i < count; i++) {
      if ((mask[i] & HAS_SEQUENCE) === 0) continue
      const next = sequence[i]
      const step = number === undefined ? 1 : (next - number) | 0
      if (step !== 1) this.note(step, number as number, i)
      if (step > 0) number = next
    }
    this.number = number
  }

  private takeTime({ mask, time, count }: EventBatch): void {
    const { words } = time
    let { lo, hi } = this
    for (let i = 0; i < count; i++) {
      if ((mask[i] & HAS_TIME) === 0) continue
      const nextLo = words[2 * i + LO]
      const nextHi = words[2 * i + HI]
      if ((nextHi - hi || nextLo - lo) < 0) {
        this.note(-1, 0, i)
      } else {
        lo = nextLo
        hi = nextHi
      }
    }
    this.lo = lo
    this.hi = hi
  }

  /** Counts event i of a batch, whose number is not one above the greatest so far. */
  private note(step: number, after: number, i: number): void {
    const { statistics } = this
    const event = statistics.events + i + 1
    if (step < 0) {
      statistics.late++
      statistics.firstLate ??= event
    } else if (step === 0) {
      statistics.duplicates++
      statistics.firstDuplicate ??= event
    } else {
      statistics.gaps++
      statistics.missing += step - 1
      statistics.firstGap ??= { after, event }
    }
  }
}

/** Reports on the order of a stream: sentences without a full stop; none if the order is correct. */
export function orderWarnings({
  late,
  firstLate,
  duplicates,
  firstDuplicate,
  gaps,
  missing,
  firstGap,
}: OrderStatistics): string[] {
  const warnings: string[] = []
  if (firstGap !== undefined) {
    const places = gaps === 1 ? 'after' : `in ${gaps} gaps, the first after`
    const what = plural(missing, 'sequence number is', 'sequence numbers are')
    warnings.push(
      `${what} missing, ${places} ${firstGap.after} (event ${firstGap.event}): an input is cut or was not given`,
    )
  }
  if (firstDuplicate !== undefined) {
    const what = plural(duplicates, 'sequence number comes', 'sequence numbers come')
    warnings.push(`${what} more than once, the first in event ${firstDuplicate}`)
  }
  if (firstLate !== undefined) {
    const what = plural(late, 'event stands', 'events stand')
    warnings.push(`${what} out of order, the first is event ${firstLate}: a larger window may help, or hf-sort`)
  }
  return warnings
}
