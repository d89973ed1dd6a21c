import type { Amount, Shares } from './result.js'

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
  if (blocks === 0 && bytes === 0n) return
  to.blocks += blocks
  to.bytes += bytes
}

/** The figures of a row without allocations. */
export function noShares(): Shares {
  const none = (): Amount => ({ ...NOTHING })
  return { allocated: none(), atPeak: none(), leaked: none(), temporary: { heaptrack: none(), memray: none() } }
}

/** Adds the figures of a row to a sum, in place. */
export function addShares(to: Shares, { allocated, atPeak, leaked, temporary }: Shares): void {
  addAmount(to.allocated, allocated)
  addAmount(to.atPeak, atPeak)
  addAmount(to.leaked, leaked)
  addAmount(to.temporary.heaptrack, temporary.heaptrack)
  addAmount(to.temporary.memray, temporary.memray)
}

/** The sum of the figures of two rows. */
export function sumOfShares(one: Shares, other: Shares): Shares {
  const total = noShares()
  addShares(total, one)
  addShares(total, other)
  return total
}
