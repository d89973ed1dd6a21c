import type { Amount } from './result.js'

/** The one of two amounts with more bytes: the first if they are equal. */
export function largerPeak(one: Amount, other: Amount): Amount {
  return other.bytes > one.bytes ? other : one
}
