import { wrongType } from './error.js'
import type { TraceHeader, TracePart } from './header.js'
import { showJson } from './message-text.js'
import { checkNeededOptions, type OptionNames } from './options.js'

const NAMES: OptionNames<TraceHeader> = {
  format: 'string',
  timeUnit: 'string',
  layout: true,
  filtered: 'boolean',
  part: true,
}

/**
 * A header that a program gives.
 * @param of the function that it is given to, in messages
 * @throws TypeError or RangeError for a header that no trace can have, as none could be read back
 */
export function givenHeader(header: TraceHeader, of: string): TraceHeader {
  checkNeededOptions(header, NAMES, of)
  try {
    return checkHeader(header)
  } catch (error) {
    throw wrongType(`${of}: ${(error as Error).message}`)
  }
}

/** The keys of an object that no header has. */
export function unknownKeys(given: object): string[] {
  return Object.keys(given).filter((key) => !Object.hasOwn(NAMES, key))
}

/**
 * A header that was read, or that a program gives: only what headers can have, with values that can be written. A key
 * that is null counts as absent, as in events.
 * @throws Error that says what is wrong with it
 */
export function checkHeader(given: unknown): TraceHeader {
  if (typeof given !== 'object' || given === null) throw new Error('the header must be an object')
  const { format, timeUnit, layout, filtered, part } = withoutNulls(given)
  if (typeof format !== 'string') throw new Error('the header must name a format')
  if (timeUnit !== undefined && timeUnit !== 'ns' && timeUnit !== 'us')
    throw new Error(`unknown unit of time: ${showJson(timeUnit)}`)
  if (
    layout !== undefined &&
    (typeof layout !== 'object' || layout === null || Array.isArray(layout) || !Object.values(layout).every(isScalar))
  ) {
    throw new Error("the header's layout must be an object of strings, numbers and booleans")
  }
  if (filtered !== undefined && typeof filtered !== 'boolean')
    throw new Error(`the header's filtered must be true or false, not ${showJson(filtered)}`)
  return {
    format,
    ...(timeUnit !== undefined && { timeUnit }),
    ...(layout !== undefined && { layout: layout as TraceHeader['layout'] }),
    ...(filtered === true && { filtered }),
    ...(part !== undefined && { part: checkPart(part) }),
  } as TraceHeader
}

function checkPart(value: unknown): TracePart {
  const { of, trace, whole, first } = withoutNulls(value as object)
  if (typeof of !== 'string' || !isCount(trace) || (first !== undefined && !isCount(first)))
    throw new Error("the header's part must have an id, the number of its trace, and maybe that of its first event")
  return { of, trace, ...(whole === true && { whole }), ...(first !== undefined && { first }) }
}

/** The keys of an object that are not null; none of what is not an object. */
function withoutNulls(given: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
}

/** Whether a value is a whole number from 1. */
function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}

/** Whether JSON has the value. It has no infinite numbers: one such as 1e999 would come back as null. */
function isScalar(value: unknown): boolean {
  return typeof value === 'string' || Number.isFinite(value) || typeof value === 'boolean'
}
