import { barsAt, histogramOf } from './histogram.js'
import type { StatisticsKernel } from './kernel.js'
import type { Amount, Shares, SizeStatistics, Statistics } from './result.js'

/** The row for all sizes that found no room: rows before it are those of the sizes that have the row's number. */
const OTHERS = 4096

/** Where things are in a row of kernel/statistics/sizes.ts, in bytes. */
const [SIZE, ALLOCATIONS, LEAKS, HEAPTRACK, MEMRAY, PEAK] = [0, 8, 16, 24, 32, 44]

/** What became of the blocks of each size, which the kernel counts. */
export class SizeTable {
  constructor(private readonly kernel: StatisticsKernel) {}

  /** Whether some sizes were counted as others. */
  get overflowed(): boolean {
    return this.kernel.number(this.at(OTHERS) + ALLOCATIONS) > 0
  }

  /**
   * @param largest the largest size, which others keep as well
   * @param whole the figures of all sizes together
   */
  result(largest: bigint, whole: Shares): Statistics['sizes'] {
    const { kernel } = this
    const { OTHER_SIZES, OTHER_SMALLEST, sizeRows } = kernel.run
    const exact: SizeStatistics[] = []
    const bars = barsAt(kernel, OTHER_SIZES.value)
    for (let row = 0; row < sizeRows.value; row++) {
      const at = this.at(row)
      const count = kernel.number(at + ALLOCATIONS)
      if (count === 0 || row === OTHERS) continue
      const size = row < OTHERS ? BigInt(row) : kernel.integer(at + SIZE)
      const bits = size === 0n ? 0 : size.toString(2).length
      bars[bits] = (bars[bits] as number) + count
      exact.push({
        size,
        count,
        atPeak: kernel.word(at + PEAK),
        leaked: kernel.number(at + LEAKS),
        temporary: { heaptrack: kernel.number(at + HEAPTRACK), memray: kernel.number(at + MEMRAY) },
      })
    }
    const smallest = exact.map(({ size }) => size)
    if (this.overflowed) smallest.push(kernel.integer(OTHER_SMALLEST.value))
    return {
      smallest: smallest.reduce((least, size) => (size < least ? size : least), smallest[0] ?? 0n),
      largest,
      histogram: histogramOf(bars, whole.allocated.bytes),
      exact: exact.toSorted((a, b) => b.count - a.count || (a.size < b.size ? -1 : 1)),
      ...(this.overflowed && { others: othersOf(exact, whole) }),
    }
  }

  private at(row: number): number {
    const { sizeTable, SIZE_BYTES } = this.kernel.run
    return sizeTable.value + row * SIZE_BYTES.value
  }
}

/** What the whole has beyond the sizes that have rows. */
function othersOf(exact: readonly SizeStatistics[], whole: Shares): Shares {
  const rest = ({ blocks, bytes }: Amount, blocksOf: (row: SizeStatistics) => number): Amount => ({
    blocks: exact.reduce((left, row) => left - blocksOf(row), blocks),
    bytes: exact.reduce((left, row) => left - row.size * BigInt(blocksOf(row)), bytes),
  })
  return {
    allocated: rest(whole.allocated, ({ count }) => count),
    atPeak: rest(whole.atPeak, ({ atPeak }) => atPeak),
    leaked: rest(whole.leaked, ({ leaked }) => leaked),
    temporary: {
      heaptrack: rest(whole.temporary.heaptrack, ({ temporary }) => temporary.heaptrack),
      memray: rest(whole.temporary.memray, ({ temporary }) => temporary.memray),
    },
  }
}
