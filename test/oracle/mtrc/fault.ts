import { limit, malformed, type TraceError, type TracePosition } from '../../../lib/event/error.js'
import { MAX_LEB, MAX_NAME, NAME_ENTRIES } from '../../../lib/formats/mtrc/layout.js'

/**
 * What the functions that read a part of a record give in place of the position after it (which is never 0 or less), so
 * that hot loops need no exceptions.
 */
export const Fault = {
  /** No fault: the bytes that are there end within the record. */
  short: -1,
  numberTooWide: -2,
  numberTooLong: -3,
  lineTooLarge: -4,
  noSuchEntry: -5,
  entryUndefined: -6,
  nameTooLong: -7,
  unknownType: -8,
} as const

/**
 * The error for a fault within a record.
 * @param code one of `Fault`
 * @param type the record's first byte
 */
export function failure(code: number, type: number, at: TracePosition): TraceError {
  switch (code) {
    case Fault.numberTooWide:
      return malformed('a number has more than 64 bits', at)
    case Fault.numberTooLong:
      return limit(`a number takes more than ${MAX_LEB} bytes`, at)
    case Fault.lineTooLarge:
      return limit('a line number has more than 32 bits', at)
    case Fault.noSuchEntry:
      return malformed(`a name has an entry outside 1 to ${NAME_ENTRIES}`, at)
    case Fault.entryUndefined:
      return malformed('a name refers to an entry that is not defined yet', at)
    case Fault.nameTooLong:
      return limit(`a name takes more than ${MAX_NAME} bytes`, at)
    default:
      return malformed(`a record of unknown type 0x${type.toString(16).padStart(2, '0')}`, at)
  }
}
