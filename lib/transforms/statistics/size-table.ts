import { HI, LO } from '../../bytes/u64.js'
import { histogramAt } from './histogram.js'
import type { StatisticsKernel } from './kernel.js'
import { KeyCounts, MAX_KEYS } from './keys.js'
import type { Statistics } from './result.js'

/** Sizes below this are counted by the kernel, others in a table. */
const SMALL = 4096

/** What sizes were asked for. */
export class SizeTable {
  private readonly large = new KeyCounts(MAX_KEYS - SMALL)

  constructor(private readonly kernel: StatisticsKernel) {}

  /** Whether some sizes were counted as others. */
  get overflowed(): boolean {
    return this.large.overflowed
  }

  /** Counts the large sizes that the kernel has found just now. */
  addLarge(): void {
    const { run } = this.kernel
    const n = run.largeSizes.value
    if (n === 0) return
    const words = new Int32Array(run.memory.buffer, run.LARGE.value, 2 * n)
    for (let i = 0; i < n; i++) this.large.add(words[2 * i + LO] as number, words[2 * i + HI] as number)
  }

  /** @param largest the largest size, which others keep as well */
  result(largest: bigint): Statistics['sizes'] {
    const { kernel } = this
    const { SMALLEST, SIZES, SMALL: counts } = kernel.run
    const small: { size: bigint; count: number }[] = []
    kernel.integers(counts.value, SMALL).forEach((count, size) => {
      if (count > 0n) small.push({ size: BigInt(size), count: Number(count) })
    })
    // Equally frequent ones are in the order of their sizes, and the small ones are smaller.
    const large = this.large.entries().map(({ key, count }) => ({ size: key, count }))
    const exact = [...small, ...large].toSorted((a, b) => b.count - a.count)
    return {
      smallest: kernel.integer(SMALLEST.value),
      largest,
      histogram: histogramAt(kernel, SIZES.value),
      exact,
      others: this.large.others,
    }
  }
}
