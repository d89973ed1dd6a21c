import type { EventBatch } from './batch.js'
import { Kind } from './fields.js'
import { plural } from './message-text.js'

/** How many events of a batch say that the recorder lost others. */
export function lostPlaces({ kind, count }: EventBatch): number {
  let n = 0
  for (let at = kind.indexOf(Kind.lost); at >= 0 && at < count; at = kind.indexOf(Kind.lost, at + 1)) n++
  return n
}

/** The warning about that. @param consequence what may be wrong therefore */
export function lostWarning(places: number, consequence = 'every figure may be wrong'): string {
  return `the recorder lost events in ${plural(places, 'place')}, so ${consequence}`
}
