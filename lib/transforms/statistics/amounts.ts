import type { Amount } from './result.js'

/** No blocks. */
export const NOTHING: Readonly<Amount> = { blocks: 0, bytes: 0n }

/** The sum of two amounts. */
export function plus(one: Amount, other: Amount): Amount {
  return { blocks: one.blocks + other.blocks, bytes: one.bytes + other.bytes }
}

/** What is left of an amount. */
export function minus(amount: Amount, less: Amount): Amount {
  return { blocks: amount.blocks - less.blocks, bytes: amount.bytes - less.bytes }
}

/** The one of two amounts with more bytes: the first if they are equal. */
export function largerPeak(one: Amount, other: Amount): Amount {
  return other.bytes > one.bytes ? other : one
}

/** Adds an amount to a sum, in place. */
export function addAmount(to: Amount, { blocks, bytes }: Amount): void {
  to.blocks += blocks
  to.bytes += bytes
}
