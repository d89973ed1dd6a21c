import { HI, WORD } from '../../bytes/u64.js'
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
    return this.countOf(OTHERS) > 0
  }

  /** How many sizes have a row. */
  get listed(): number {
    return this.rows().length
  }

  /**
   * @param largest the largest size, which others keep as well
   * @param whole the figures of all sizes together
   * @param most how many sizes are listed at most
   */
  result(largest: bigint, whole: Shares, most: number): Statistics['sizes'] {
    const { kernel } = this
    const { OTHER_SIZES, OTHER_SMALLEST } = kernel.run
    const rows = this.rows()
    const bars = barsAt(kernel, OTHER_SIZES.value)
    for (const row of rows) bars[this.bitsOf(row)] = (bars[this.bitsOf(row)] as number) + this.countOf(row)
    const sizes =
      rows.length === 0 ? [] : [this.sizeOf(rows.reduce((least, row) => (this.bySize(row, least) < 0 ? row : least)))]
    if (this.overflowed) sizes.push(kernel.integer(OTHER_SMALLEST.value))
    const order = (a: number, b: number) => this.countOf(b) - this.countOf(a) || this.bySize(a, b)
    const exact = most === 0 ? [] : [...rows.toSorted(order).subarray(0, most)]
    return {
      smallest: sizes.reduce((least, size) => (size < least ? size : least), sizes[0] ?? 0n),
      largest,
      histogram: histogramOf(bars, whole.allocated.bytes),
      exact: exact.map((row) => this.statistics(row)),
      ...(this.overflowed && {
        others: othersOf(
          Array.from(rows, (row) => this.statistics(row)),
          whole,
        ),
      }),
    }
  }

  /** The rows in which there are blocks, but not that of others. */
  private rows(): Uint32Array {
    const rows = new Uint32Array(this.kernel.run.sizeRows.value)
    let n = 0
    for (let row = 0; row < rows.length; row++) if (row !== OTHERS && this.countOf(row) > 0) rows[n++] = row
    return rows.subarray(0, n)
  }

  private countOf(row: number): number {
    return this.kernel.number(this.at(row) + ALLOCATIONS)
  }

  private sizeOf(row: number): bigint {
    return row < OTHERS ? BigInt(row) : this.kernel.integer(this.at(row) + SIZE)
  }

  /** The same as a double, which may lack the last digits. */
  private roughSizeOf(row: number): number {
    return row < OTHERS ? row : this.kernel.number(this.at(row) + SIZE)
  }

  /** Orders rows by their sizes. */
  private bySize(a: number, b: number): number {
    return this.roughSizeOf(a) - this.roughSizeOf(b) || (this.sizeOf(a) < this.sizeOf(b) ? -1 : 1)
  }

  /** How many bits a size has. */
  private bitsOf(row: number): number {
    const size = this.roughSizeOf(row)
    if (size < WORD) return 32 - Math.clz32(size)
    return 64 - Math.clz32(this.kernel.word(this.at(row) + SIZE + 4 * HI))
  }

  private statistics(row: number): SizeStatistics {
    const { kernel } = this
    const at = this.at(row)
    return {
      size: this.sizeOf(row),
      count: this.countOf(row),
      atPeak: kernel.word(at + PEAK),
      leaked: kernel.number(at + LEAKS),
      temporary: { heaptrack: kernel.number(at + HEAPTRACK), memray: kernel.number(at + MEMRAY) },
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
