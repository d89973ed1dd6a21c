import { HI, LO, WORD } from '../../bytes/u64.js'
import { GrowingKernel } from '../../kernel/growing.js'
import type { Global } from '../../kernel/load.js'
import type { LiveExports } from '../../kernel/live.js'
import { FIRST } from './bounded-keys.js'
import type { Amount } from './result.js'

/** kernel/statistics.ts; the files beside it say what each of these is. */
export interface StatisticsExports extends LiveExports {
  count(rows: number, sites: number, threads: number, isTimed: boolean): number
  beginTrace(): void
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
  private words = new Uint32Array(0)

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
    const words = this.allWords()
    return (words[address / 4 + HI] as number) * WORD + (words[address / 4 + LO] as number)
  }

  /** A 64-bit integer. */
  integer(address: number): bigint {
    const words = this.allWords()
    const hi = words[address / 4 + HI] as number
    const lo = BigInt(words[address / 4 + LO] as number)
    return hi === 0 ? lo : (BigInt(hi) << 32n) | lo
  }

  /** A 32-bit integer. */
  word(address: number): number {
    return this.allWords()[address / 4] as number
  }

  /** An exact sum of 128 bits. */
  sum(address: number): bigint {
    const high = this.integer(address + 8)
    return high === 0n ? this.integer(address) : (high << 64n) | this.integer(address)
  }

  /** A number of blocks, and their bytes after it. */
  amount(address: number): Amount {
    return { blocks: this.number(address), bytes: this.sum(address + 8) }
  }

  /** All of the memory: one view, for a result has very many figures. */
  private allWords(): Uint32Array {
    const { buffer } = this.run.memory
    if (this.words.buffer !== buffer) this.words = new Uint32Array(buffer)
    return this.words
  }
}
