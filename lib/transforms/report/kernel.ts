import type { EventBatch } from '../../event/batch.js'
import { fieldSet } from '../../event/fields.js'
import { MOST_GONE } from '../../kernel/layouts/report.js'
import { hasInventedAddresses } from '../../event/header.js'
import { CountingKernel } from '../../kernel/counting.js'
import { tableAt, type Globals, type KernelExports } from '../../kernel/load.js'
import type { StatisticsKernel } from '../statistics/kernel.js'

/** The exports of kernel/report.ts, documented in kernel/report/. */
export interface ReportExports
  extends
    KernelExports,
    Globals<'GONE' | 'EFFECTS' | 'FATES' | 'ENDED' | 'BEGUN' | 'SITES' | 'THREADS' | 'PROCESSES' | 'HEAT'>,
    Globals<'SITE_HEAT' | 'MATRIX' | 'CHAINS' | 'RESIZES' | 'PROBLEMS' | 'problems' | 'GENERATIONS'>,
    Globals<'SITE_GENERATIONS' | 'PEAK_PAGES' | 'END_PAGES' | 'matrix' | 'REGION_KEYS' | 'regions' | 'regionShift'>,
    Globals<'siteTable'> {
  observe(from: number, to: number, rows: number, numbers: number, sites: number, isInvented: boolean): number
  endTrace(numbers: number, shift: number): number
  leaveProcess(blocks: number, shift: number): number
  clearGenerations(): void
  snapshot(column: number): void
  joinColumns(): void
  keepPages(): void
  seed(low: number, high: number): void
  readonly zeroSizes: { readonly value: bigint }
  readonly placed: { readonly value: bigint }
  readonly unfollowed: { readonly value: bigint }
  readonly unmapped: { readonly value: bigint }
  readonly touched: { readonly value: bigint }
  readonly mostTouched: { readonly value: bigint }
  readonly lost: { readonly value: bigint }
}

/** The columns that the kernel reads. */
const OBSERVED = fieldSet('api', 'address', 'oldAddress', 'size', 'outcome')

/** Columns that this kernel shares with the kernel of the statistics, and the sizes of their values in bytes. */
const SHARED = [
  ['EFFECTS', 1],
  ['FATES', 1],
  ['ENDED', 4],
  ['BEGUN', 4],
  ['SITES', 4],
  ['THREADS', 4],
  ['PROCESSES', 4],
] as const

export class ReportKernel extends CountingKernel<ReportExports> {
  constructor() {
    super('report')
    const random = () => Math.floor(Math.random() * 2 ** 32)
    this.run.seed(random(), random())
  }

  /**
   * Observes events `from` to `to` of a batch, which the other kernel has counted.
   * @param sites the number of their rows
   * @param shift the logarithm of the size of slices, for blocks that end with their process
   * @returns whether there was memory
   */
  observe(
    batch: EventBatch,
    from: number,
    to: number,
    { run: counted }: StatisticsKernel,
    sites: number,
    shift: number,
  ): boolean {
    const { run, columns } = this
    const rows = to - from
    for (const [name, bytes] of SHARED) {
      const source = new Uint8Array(counted.memory.buffer, counted[name].value, bytes * rows)
      new Uint8Array(run.memory.buffer, run[name].value, bytes * rows).set(source)
    }
    columns.put(batch, from, to, OBSERVED)
    const isInvented = hasInventedAddresses(batch.header)
    const observeTo = (row: number, end: number) =>
      run.observe(row, end, rows, counted.numbers.value, sites, isInvented) !== 0
    const gone = new Int32Array(counted.memory.buffer, tableAt(counted, counted.gone), 2 * counted.goneCount.value)
    let row = 0
    let isDone = true
    for (let g = 0; g < gone.length && isDone;) {
      const end = gone[g]
      isDone = observeTo(row, end)
      row = end
      const list = new Uint32Array(run.memory.buffer, run.GONE.value, MOST_GONE)
      let blocks = 0
      for (; g < gone.length && gone[g] === end && blocks < MOST_GONE; g += 2) list[blocks++] = gone[g + 1]
      isDone &&= run.leaveProcess(blocks, shift) !== 0
    }
    isDone &&= observeTo(row, rows)
    this.refresh()
    return isDone
  }
}
