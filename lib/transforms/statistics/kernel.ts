import type { CallersExports } from '../../blocks/callers.js'
import { CountingKernel } from '../../kernel/counting.js'
import * as Row from '../../kernel/layouts/owners.js'
import * as Total from '../../kernel/layouts/totals.js'
import type { Globals } from '../../kernel/load.js'
import type { LiveExports } from '../../kernel/live.js'
import { FIRST } from '../../blocks/bounded-keys.js'
import type { Amount, Peak, Shares } from './result.js'

/** The exports of kernel/statistics.ts, documented in the files beside it. */
interface StatisticsExports
  extends
    LiveExports,
    CallersExports,
    Globals<'FATES' | 'otherRows' | 'OTHERS' | 'siteTable' | 'threadTable' | 'SITES' | 'INFOS' | 'TOTALS'>,
    Globals<'PEAK_BYTES' | 'PEAK_BLOCKS' | 'OTHER_SIZES' | 'OTHER_SMALLEST' | 'sizeTable' | 'sizeRows'>,
    Globals<'LIFE_EVENTS' | 'LIFE_BYTES' | 'LIFE_TIME' | 'FAMILIES' | 'MISMATCHES' | 'HEAPTRACK' | 'MEMRAY'>,
    Globals<'PARTS' | 'parts' | 'RESIDENT' | 'CROSS_CPU' | 'shareTable' | 'shares' | 'sharesOverflowed' | 'HANDOFFS'>,
    Globals<'RESIDENT_SET'> {
  count(rows: number, sites: number, threads: number, isTimed: boolean): number
  countInfos(rows: number, sites: number, threads: number, most: number, isTimed: boolean): number
  addInfos(sites: number, threads: number): void
  beginTrace(): void
  endTrace(sites: number, threads: number): void
  settle(sites: number, threads: number): void
  readonly blockEvents: { readonly value: bigint }
  readonly partEvents: { readonly value: bigint }
}

/** The kernel of one collector, and the integers in its memory. */
export class StatisticsKernel extends CountingKernel<StatisticsExports> {
  constructor() {
    super('statistics')
    const random = () => Math.floor(Math.random() * 2 ** 32)
    this.run.seed(random(), random())
    // The tables of sites and threads have rows before the first event.
    this.run.count(0, FIRST, FIRST, false)
    this.refresh()
  }

  /** A number of blocks, followed by their bytes. */
  amount(address: number): Amount {
    return { blocks: this.number(address), bytes: this.sum(address + 8) }
  }

  /** The figures that rows of sites and rows of threads share. */
  shares(row: number): Shares {
    return {
      allocated: this.amount(row + Row.ALLOCATIONS),
      atPeak: this.amount(row + Row.PEAK),
      leaked: this.amount(row + Row.LEAKS),
      temporary: { heaptrack: this.amount(row + Row.HEAPTRACK), memray: this.amount(row + Row.MEMRAY) },
    }
  }

  /** The moment of a peak, as the kernel marked it. */
  peak(address: number): Peak {
    return {
      blocks: this.number(address + Total.AT_BLOCKS),
      bytes: this.sum(address + Total.AT_BYTES),
      event: this.number(address + Total.AT_EVENT),
      allocatedBytes: this.sum(address + Total.AT_ALLOCATED),
      ...(this.number(address + Total.AT_TIMED) > 0 && { time: this.integer(address + Total.AT_TIME) }),
    }
  }
}
