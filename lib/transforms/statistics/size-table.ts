import { HI, LO, WORD } from '../../bytes/u64.js'
import { ALLOCATIONS, FEW, HEAPTRACK, LEAKS, MEMRAY, PEAK, SIZE, SIZE_BYTES } from '../../kernel/layouts/sizes.js'
import { barsAt, histogramOf } from './histogram.js'
import type { StatisticsKernel } from './kernel.js'
import type { Amount, Shares, SizeStatistics, Statistics } from './result.js'

/** Rows of sizes with their allocations, and the sizes as doubles, which may be rounded. */
interface SizeColumns {
  readonly rows: Uint32Array
  readonly counts: Float64Array
  readonly sizes: Float64Array
}

/** The fates of the blocks of each size, as counted by the kernel. */
export class SizeTable {
  constructor(private readonly kernel: StatisticsKernel) {}

  /** Whether some sizes were counted as others. */
  get overflowed(): boolean {
    return this.kernel.number(this.at(FEW) + ALLOCATIONS) > 0
  }

  /** The number of sizes with a row. */
  get listed(): number {
    return this.columns().rows.length
  }

  /**
   * @param largest the exact largest size
   * @param whole the figures of all sizes together
   * @param most the maximum number of listed sizes; `others` is present only if all sizes are listed
   */
  result(largest: bigint, whole: Shares, most: number): Statistics['sizes'] {
    const { kernel } = this
    const { OTHER_SIZES } = kernel.run
    const columns = this.columns()
    const { rows, counts, sizes } = columns
    const bars = barsAt(kernel, OTHER_SIZES.value)
    for (let i = 0; i < rows.length; i++) {
      const bits = this.bitsOf(rows[i], sizes[i])
      bars[bits] = bars[bits] + counts[i]
    }
    const order = (a: number, b: number) => counts[b] - counts[a] || this.bySize(columns, a, b)
    const exact = mostFrequent(columns, most).toSorted(order).slice(0, most)
    return {
      smallest: this.smallest(columns),
      largest,
      histogram: histogramOf(bars, whole.allocated.bytes),
      exact: exact.map((i) => this.statistics(rows[i])),
      ...(this.overflowed && most === Infinity && { others: this.others(rows, whole) }),
    }
  }

  /** The rows with blocks, except the row of others. This is one loop, because there are very many rows. */
  private columns(): SizeColumns {
    const { kernel } = this
    const { run } = kernel
    const words = new Uint32Array(run.memory.buffer)
    const count = run.sizeRows.value
    const step = SIZE_BYTES / 4
    const [rows, counts, sizes] = [new Uint32Array(count), new Float64Array(count), new Float64Array(count)]
    let n = 0
    for (let row = 0, at = kernel.word(run.sizeTable.value) / 4; row < count; row++, at += step) {
      const allocations = words[at + ALLOCATIONS / 4 + HI] * WORD + words[at + ALLOCATIONS / 4 + LO]
      if (allocations === 0 || row === FEW) continue
      rows[n] = row
      counts[n] = allocations
      sizes[n] = row < FEW ? row : words[at + HI] * WORD + words[at + LO]
      n++
    }
    return { rows: rows.subarray(0, n), counts: counts.subarray(0, n), sizes: sizes.subarray(0, n) }
  }

  private smallest(columns: SizeColumns): bigint {
    let smallest = 0
    for (let i = 1; i < columns.rows.length; i++) if (this.bySize(columns, i, smallest) < 0) smallest = i
    const row = columns.rows[smallest]
    const own = row === undefined ? undefined : this.sizeOf(row)
    if (!this.overflowed) return own ?? 0n
    const other = this.kernel.integer(this.kernel.run.OTHER_SMALLEST.value)
    return own === undefined || other < own ? other : own
  }

  private sizeOf(row: number): bigint {
    return row < FEW ? BigInt(row) : this.kernel.integer(this.at(row) + SIZE)
  }

  /** Orders two of the sizes. */
  private bySize({ rows, sizes }: SizeColumns, a: number, b: number): number {
    const rough = sizes[a] - sizes[b]
    return rough !== 0 || a === b ? rough : this.sizeOf(rows[a]) < this.sizeOf(rows[b]) ? -1 : 1
  }

  /** The number of bits of a size, which is also given as a double. */
  private bitsOf(row: number, size: number): number {
    return size < WORD ? 32 - Math.clz32(size) : 64 - Math.clz32(this.kernel.word(this.at(row) + SIZE + 4 * HI))
  }

  /** The figures of all sizes without rows. */
  private others(rows: Uint32Array, whole: Shares): Shares {
    const { allocated, atPeak, leaked, temporary } = whole
    const rest = {
      allocated: { ...allocated },
      atPeak: { blocks: atPeak.blocks, bytes: atPeak.bytes },
      leaked: { ...leaked },
      temporary: { heaptrack: { ...temporary.heaptrack }, memray: { ...temporary.memray } },
    }
    const take = (from: Amount, size: bigint, blocks: number) => {
      from.blocks -= blocks
      from.bytes -= size * BigInt(blocks)
    }
    for (const row of rows) {
      const { size, ...one } = this.statistics(row)
      take(rest.allocated, size, one.count)
      take(rest.atPeak, size, one.atPeak)
      take(rest.leaked, size, one.leaked)
      take(rest.temporary.heaptrack, size, one.temporary.heaptrack)
      take(rest.temporary.memray, size, one.temporary.memray)
    }
    return rest
  }

  private statistics(row: number): SizeStatistics {
    const { kernel } = this
    const at = this.at(row)
    return {
      size: this.sizeOf(row),
      count: kernel.number(at + ALLOCATIONS),
      atPeak: kernel.word(at + PEAK),
      leaked: kernel.number(at + LEAKS),
      temporary: { heaptrack: kernel.number(at + HEAPTRACK), memray: kernel.number(at + MEMRAY) },
    }
  }

  private at(row: number): number {
    return this.kernel.word(this.kernel.run.sizeTable.value) + row * SIZE_BYTES
  }
}

/**
 * The positions of the `most` sizes with the most blocks, smaller sizes first, or slightly more if sizes are equal as
 * doubles. Sorting all sizes would take much memory.
 */
function mostFrequent({ counts, sizes }: SizeColumns, most: number): number[] {
  const all = Array.from(counts.keys())
  if (counts.length <= most) return all
  if (most === 0) return []
  const fewest = counts.toSorted()[counts.length - most]
  const more = all.filter((i) => counts[i] > fewest)
  const equal = all.filter((i) => counts[i] === fewest)
  const ordered = Float64Array.from(equal, (i) => sizes[i]).toSorted()
  const largest = ordered[most - more.length - 1]
  return [...more, ...equal.filter((i) => sizes[i] <= largest)]
}
