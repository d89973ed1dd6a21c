import type { ValueCheck } from '../../event/options.js'

/** At least this many events must lie between two resets of the model. */
export const RESET_EVENTS = 4096

const FACTORS: Readonly<Record<string, number>> = { '': 1, K: 2 ** 10, M: 2 ** 20 }

/** The number of events between checkpoints that an option says; NaN if it says none. */
export function distanceOf(option: unknown): number {
  const match = /^(\d{1,15})([KM]?)$/i.exec(typeof option === 'string' ? option : String(Number(option)))
  return match === null ? NaN : Number(match[1]) * FACTORS[match[2].toUpperCase()]
}

export const CHECKPOINT: ValueCheck = {
  what: `a number of events from ${RESET_EVENTS}, which may end in K or M`,
  is: (value) => ['string', 'number'].includes(typeof value) && distanceOf(value) >= RESET_EVENTS,
}

export const ONE_LEVEL: ValueCheck = { what: '1 or 2', is: (value) => value === 1 || value === 2 }
