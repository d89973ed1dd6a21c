import type { EventBatch } from '../../event/batch.js'
import { fieldSet } from '../../event/fields.js'
import { CountingKernel } from '../../kernel/counting.js'
import type { Global, KernelExports } from '../../kernel/load.js'
import type { StatisticsKernel } from '../statistics/kernel.js'

/** kernel/report.ts; the files in kernel/report/ say what each of these is. */
export interface ReportExports extends KernelExports {
  observe(rows: number, numbers: number, sites: number): number
  endTrace(numbers: number, shift: number): number
  snapshot(column: number): void
  joinColumns(): void
  seedPages(low: number, high: number): void
  seedPairs(low: number, high: number): void
  readonly EFFECTS: Global
  readonly ENDED: Global
  readonly BEGUN: Global
  readonly SITES: Global
  readonly THREADS: Global
  readonly PROCESSES: Global
  readonly HEAT: Global
  readonly SITE_HEAT: Global
  readonly MATRIX: Global
  readonly CHAINS: Global
  readonly RESIZES: Global
  readonly zeroSizes: { readonly value: bigint }
  readonly PROBLEMS: Global
  readonly problems: Global
  readonly placed: { readonly value: bigint }
  readonly unfollowed: { readonly value: bigint }
  readonly unmapped: { readonly value: bigint }
  readonly GENERATIONS: Global
  readonly SITE_GENERATIONS: Global
  readonly PAGES: Global
  readonly PEAK_PAGES: Global
  readonly END_PAGES: Global
  readonly touched: { readonly value: bigint }
  readonly lost: { readonly value: bigint }
  readonly matrix: Global
  readonly REGION_KEYS: Global
  readonly regions: Global
  readonly regionShift: Global
  readonly siteTable: Global
  readonly SITE_BYTES: Global
}

/** What the kernel reads of events. */
const OBSERVED = fieldSet('api', 'address', 'oldAddress', 'size', 'outcome')

/** Columns of the statistics' kernel that this one has, too, and the bytes of a row of each. */
const SHARED = [
  ['EFFECTS', 1],
  ['ENDED', 4],
  ['BEGUN', 4],
  ['SITES', 4],
  ['THREADS', 4],
  ['PROCESSES', 4],
] as const

/** Where a slot of kernel/report/pairs.ts has its count, and its sum; how many bytes it has. */
const [COUNT, SUM, SLOT] = [8, 16, 32]
/** Where a table of them has the logarithm of the number of its slots, and what found no room. */
const [LOG, REST] = [4, 16]

/** Blocks with the same key. */
export interface Pair {
  key: number
  blocks: number
  bytes: bigint
}

/** The kernel of one report. */
export class ReportKernel extends CountingKernel<ReportExports> {
  constructor() {
    super('report')
    const random = () => Math.floor(Math.random() * 2 ** 32)
    this.run.seedPages(random(), random())
    this.run.seedPairs(random(), random())
  }

  /**
   * Observes events `from` to `to` of a batch, which the other kernel has counted.
   * @param sites how many rows of them there are
   * @returns whether there was memory
   */
  observe(batch: EventBatch, from: number, to: number, { run: counted }: StatisticsKernel, sites: number): boolean {
    const { run, columns } = this
    const rows = to - from
    for (const [name, bytes] of SHARED) {
      const source = new Uint8Array(counted.memory.buffer, counted[name].value, bytes * rows)
      new Uint8Array(run.memory.buffer, run[name].value, bytes * rows).set(source)
    }
    columns.put(batch, from, to, OBSERVED)
    const isDone = run.observe(rows, counted.numbers.value, sites) !== 0
    this.refresh()
    return isDone
  }

  /** Every key of a table, and what has it. */
  *pairs(table: number): Generator<Pair> {
    const slots = this.word(table)
    if (slots === 0) return
    const end = slots + SLOT * 2 ** this.word(table + LOG)
    for (let slot = slots; slot < end; slot += SLOT) {
      const key = this.number(slot)
      if (key !== 0) yield { key: key - 1, blocks: this.number(slot + COUNT), bytes: this.sum(slot + SUM) }
    }
  }

  /** What found no room in a table. */
  rest(table: number): Omit<Pair, 'key'> {
    return { blocks: this.number(table + REST), bytes: this.sum(table + REST + 8) }
  }
}
