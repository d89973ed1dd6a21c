import { HI, LO } from '../../bytes/u64.js'
import { GrowingKernel } from '../../kernel/growing.js'
import type { Global } from '../../kernel/load.js'
import type { LiveExports } from '../../kernel/live.js'
import { FIRST } from './keys.js'
import type { Amount } from './result.js'

/** kernel/statistics.ts; the files beside it say what each of these is. */
export interface StatisticsExports extends LiveExports {
  count(rows: number, sites: number, threads: number, isTimed: boolean): number
  endTrace(sites: number, threads: number): void
  settle(sites: number, threads: number): void
  seedSizes(low: number, high: number): void
  readonly otherRows: Global
  readonly blockEvents: { readonly value: bigint }
  readonly partEvents: { readonly value: bigint }
  readonly OTHERS: Global
  readonly siteTable: Global
  readonly threadTable: Global
  readonly THREADS: Global
  readonly PROCESSES: Global
  readonly SITES: Global
  readonly SITE_BYTES: Global
  readonly THREAD_BYTES: Global
  readonly TOTALS: Global
  readonly PEAK_BYTES: Global
  readonly PEAK_BLOCKS: Global
  readonly OTHER_SIZES: Global
  readonly OTHER_SMALLEST: Global
  readonly sizeTable: Global
  readonly sizeRows: Global
  readonly SIZE_BYTES: Global
  readonly LIFE_EVENTS: Global
  readonly LIFE_BYTES: Global
  readonly LIFE_TIME: Global
  readonly FAMILIES: Global
  readonly MISMATCHES: Global
  readonly HEAPTRACK: Global
  readonly MEMRAY: Global
  readonly PARTS: Global
  readonly parts: Global
  readonly PART_BYTES: Global
  readonly RESIDENT: Global
  readonly CROSS_CPU: Global
}

/** The kernel of one collector, and the integers in its memory. */
export class StatisticsKernel extends GrowingKernel<StatisticsExports> {
  constructor() {
    super('statistics')
    this.run.seedSizes(Math.floor(Math.random() * 2 ** 32), Math.floor(Math.random() * 2 ** 32))
    // The tables of sites and threads have rows before the first event.
    this.run.count(0, FIRST, FIRST, false)
    this.refresh()
  }

  /** `n` 64-bit integers from an address on. */
  integers(address: number, n: number): BigUint64Array {
    return new BigUint64Array(this.run.memory.buffer, address, n)
  }

  /** A 64-bit integer of which a double has all digits, as counts are. */
  number(address: number): number {
    const words = new Uint32Array(this.run.memory.buffer, address, 2)
    return (words[HI] as number) * 2 ** 32 + (words[LO] as number)
  }

  /** A 64-bit integer. */
  integer(address: number): bigint {
    return this.integers(address, 1)[0] as bigint
  }

  /** A 32-bit integer. */
  word(address: number): number {
    return new Uint32Array(this.run.memory.buffer, address, 1)[0] as number
  }

  /** An exact sum of 128 bits. */
  sum(address: number): bigint {
    const [low, high] = this.integers(address, 2)
    return ((high as bigint) << 64n) | (low as bigint)
  }

  /** A number of blocks, and their bytes after it. */
  amount(address: number): Amount {
    return { blocks: this.number(address), bytes: this.sum(address + 8) }
  }
}
