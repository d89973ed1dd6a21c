import type { Profile } from '../profile/profile.js'
import type { Clock, Moment } from './clock.js'
import type { Integer, Moments, Plain } from './result.js'

/** An integer in the form for JSON. */
export function integer(value: bigint): Integer {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value.toString()
}

/** A value with its integers in the form for JSON. Undefined fields are omitted. */
export function plain<Value>(value: Value): Plain<Value> {
  return toPlain(value) as Plain<Value>
}

function toPlain(value: unknown): unknown {
  if (typeof value === 'bigint') return integer(value)
  if (Array.isArray(value)) return value.map(toPlain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([name, item]) => [name, toPlain(item)]),
  )
}

/** Moments as numbers of events, and as times since the beginning. */
export class Calendar {
  private readonly byEvent: ReadonlyMap<number, Moment>

  /** @param elapsed as of a profile; absent if no event has a time */
  constructor(
    { moments }: Clock,
    private readonly elapsed: Profile['elapsed'] | undefined,
  ) {
    this.byEvent = new Map(moments.map((moment) => [moment.event, moment]))
  }

  /** The moment after an event at which the clock stopped. */
  at(event: number): Moment | undefined {
    return this.byEvent.get(event)
  }

  /** The time from the beginning until a moment. @param time the last known time at the moment */
  since(event: number, time: bigint | undefined): Integer | undefined {
    return time === undefined || this.elapsed === undefined ? undefined : integer(this.elapsed({ event, time }))
  }

  /** The moments after these events. @param times their times, by default those of the clock */
  moments(events: readonly number[], times = events.map((event) => this.at(event)?.time)): Moments {
    if (this.elapsed === undefined) return { event: [...events] }
    return { event: [...events], time: times.map((time, i) => this.since(events[i], time) ?? null) }
  }
}
