import { GroupBit } from './fields.js'
import type { GroupColumns } from './groups.js'
import { plural } from './message-text.js'

/** How many of the events `from` to `to` have a weight other than 1. */
export function weightedEvents(groups: GroupColumns, from: number, to: number): number {
  const weights = groups.wide('weight')?.values
  let count = 0
  if (weights === undefined) return count
  for (let i = from; i < to; i++) if ((groups.mask[i] & GroupBit.weight) !== 0 && weights[i] !== 1n) count++
  return count
}

/** A note for readers of figures about a trace with this number of such events. */
export function weightNote(events: number): string {
  const subject = events === 1 ? 'has a weight and stands for several' : 'have weights and stand for several each'
  return `the trace is sampled: ${plural(events, 'event')} ${subject}, but figures count every recorded event once`
}
