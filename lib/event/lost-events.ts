import type { EventBatch } from './batch.js'
import { FieldBit, Kind } from './fields.js'
import { plural } from './message-text.js'

/** Counts what the recorder of a trace lost. */
export class LostCount {
  /** The number of events that say that the recorder lost others. */
  places = 0
  private sum = 0n

  /** The number that it lost, as far as these events state it; above 2^53, the nearest number. */
  get events(): number {
    return Number(this.sum)
  }

  /** Counts the events of a batch. */
  add(batch: EventBatch): void {
    const { kind, count } = batch
    let places = 0
    for (let at = kind.indexOf(Kind.lost); at >= 0 && at < count; at = kind.indexOf(Kind.lost, at + 1)) places++
    if (places === 0) return
    this.places += places
    this.sum += lostEvents(batch, 0, count)
  }

  /** The warnings about it: none or one. @param consequence what may be wrong therefore */
  warnings(consequence?: string): string[] {
    return this.places > 0 ? [lostWarning(this.places, consequence, this.events)] : []
  }
}

/** How many events the recorder lost where the events `from` to `to` of a batch say so with a number. */
export function lostEvents({ kind, mask, elements }: EventBatch, from: number, to: number): bigint {
  let n = 0n
  for (let at = kind.indexOf(Kind.lost, from); at >= 0 && at < to; at = kind.indexOf(Kind.lost, at + 1))
    if ((mask[at] & FieldBit.count) !== 0) n += elements.values[at]
  return n
}

/**
 * The warning about that.
 * @param consequence what may be wrong therefore
 * @param events the number that was lost, as far as known
 */
export function lostWarning(places: number, consequence = 'every figure may be wrong', events = 0): string {
  const what = events > 0 ? plural(events, 'event') : 'events'
  return `the recorder lost ${what} in ${plural(places, 'place')}, so ${consequence}`
}
