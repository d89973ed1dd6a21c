/** What sizes were asked for. */
import { count, HISTOGRAM, record } from './sums'

/** Sizes below this are counted here, others by lib/transforms/statistics/size-table.ts. */
const FEW: u64 = 4096
export const SMALL: usize = memory.data(32768)
export const SIZES: usize = memory.data(HISTOGRAM)
/** The smallest size, and whether there is one. */
export const SMALLEST: usize = memory.data(16)
/** The other sizes of the rows in hand. */
export const LARGE: usize = memory.data(32768)

/** @param large how many other sizes there are. @returns how many there are now */
// @ts-ignore: decorator
@inline
export function countSize(size: u64, large: usize): usize {
  record(SIZES, size)
  if (size < load<u64>(SMALLEST) || load<u64>(SMALLEST, 8) == 0) {
    store<u64>(SMALLEST, size)
    store<u64>(SMALLEST, 1, 8)
  }
  if (size < FEW) {
    count(SMALL + ((<usize>size) << 3))
    return large
  }
  store<u64>(LARGE + (large << 3), size)
  return large + 1
}
