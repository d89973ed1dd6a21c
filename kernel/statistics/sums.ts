import { SUM } from '../../lib/kernel/layouts/totals'

/** Exact sums of 64-bit integers: 16 bytes, the low 64 bits first. Never below zero. */

// @ts-ignore: decorator
@inline
export function addTo(sum: usize, value: u64): void {
  const low = load<u64>(sum) + value
  store<u64>(sum, low)
  if (low < value) store<u64>(sum, load<u64>(sum, 8) + 1, 8)
}

/** Subtracts a value that was added before. */
// @ts-ignore: decorator
@inline
export function takeFrom(sum: usize, value: u64): void {
  const low = load<u64>(sum)
  store<u64>(sum, low - value)
  if (low < value) store<u64>(sum, load<u64>(sum, 8) - 1, 8)
}

/** Adds a number of times a value. @param n less than 2^32 */
export function addProduct(sum: usize, value: u64, n: u64): void {
  const low = (value & 0xffff_ffff) * n
  const high = (value >> 32) * n
  addTo(sum, low)
  addTo(sum, high << 32)
  store<u64>(sum, load<u64>(sum, 8) + (high >> 32), 8)
}

/** Adds any number of times a value. */
export function addTimes(sum: usize, value: u64, n: u64): void {
  for (; n > 0xffff_ffff; n -= 0xffff_ffff) addProduct(sum, value, 0xffff_ffff)
  addProduct(sum, value, n)
}

/** Sets this to the larger of both. @returns whether that was the other one */
export function raise(sum: usize, other: usize): bool {
  const low = load<u64>(other)
  const high = load<u64>(other, 8)
  const here = load<u64>(sum, 8)
  if (high < here || (high == here && low <= load<u64>(sum))) return false
  store<u64>(sum, low)
  store<u64>(sum, high, 8)
  return true
}

export function addSum(to: usize, from: usize): void {
  addTo(to, load<u64>(from))
  store<u64>(to, load<u64>(to, 8) + load<u64>(from, 8), 8)
}

/** Subtracts one sum from another that it is a part of. */
export function takeSum(from: usize, sum: usize): void {
  takeFrom(from, load<u64>(sum))
  store<u64>(from, load<u64>(from, 8) - load<u64>(sum, 8), 8)
}

// @ts-ignore: decorator
@inline
export function copySum(to: usize, from: usize): void {
  store<u64>(to, load<u64>(from))
  store<u64>(to, load<u64>(from, 8), 8)
}

/** One more. */
// @ts-ignore: decorator
@inline
export function count(at: usize): void {
  store<u64>(at, load<u64>(at) + 1)
}

/** Adds an integer to a histogram. */
export function record(histogram: usize, value: u64): void {
  count(histogram + ((<usize>(64 - clz(value))) << 3))
  addTo(histogram + SUM, value)
}

/** An integer of more than 64 bits. */
export function recordWide(histogram: usize, low: u64, high: u64): void {
  count(histogram + ((<usize>(high == 0 ? 64 - clz(low) : min<u64>(96, 128 - clz(high)))) << 3))
  addTo(histogram + SUM, low)
  store<u64>(histogram + SUM, load<u64>(histogram + SUM, 8) + high, 8)
}
