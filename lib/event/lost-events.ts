import type { EventBatch } from './batch.js'
import { FieldBit, Kind } from './fields.js'
import { plural } from './message-text.js'

/** How many events of a batch say that the recorder lost others. */
export function lostPlaces({ kind, count }: EventBatch): number {
  let n = 0
  for (let at = kind.indexOf(Kind.lost); at >= 0 && at < count; at = kind.indexOf(Kind.lost, at + 1)) n++
  return n
}

/** How many events the recorder lost where the events `from` to `to` of a batch say so with a number. */
export function lostEvents({ kind, mask, elements }: EventBatch, from: number, to: number): number {
  let n = 0
  for (let at = kind.indexOf(Kind.lost, from); at >= 0 && at < to; at = kind.indexOf(Kind.lost, at + 1))
    if ((mask[at] & FieldBit.count) !== 0) n += Number(elements.values[at])
  return n
}

/** The words for both. @param events how many were lost, as far as that is known */
export function lostText(places: number, events = 0): string {
  return `the recorder lost ${events > 0 ? plural(events, 'event') : 'events'} in ${plural(places, 'place')}`
}

/** The warning about that. @param consequence what may be wrong therefore */
export function lostWarning(places: number, consequence = 'every figure may be wrong', events = 0): string {
  return `${lostText(places, events)}, so ${consequence}`
}
