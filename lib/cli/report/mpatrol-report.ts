import { BATCH_EVENTS, type EventBatch } from '../../event/batch.js'
import { Kind } from '../../event/fields.js'
import { encodeText } from '../../event/strings.js'
import { BlockKeys, KEY_FIELDS } from '../../blocks/block-keys.js'
import { tooManyBlocks } from '../../blocks/live-set.js'
import { CountingKernel } from '../../kernel/counting.js'
import type { Global, KernelExports } from '../../kernel/load.js'
import { readKernelTotals } from '../../transforms/statistics/kernel-totals.js'
import { mpatrolFigures, Reserves } from '../../transforms/statistics/totals.js'
import { BatchWarnings } from './warnings.js'
import { FinalReport } from './final-report.js'
import { moreTraces, mpatrolText } from './mpatrol.js'

/** kernel/tally.ts, which says what each of these is. */
interface TallyExports extends KernelExports {
  begin(seed: number): number
  watchProcesses(): void
  intend(rows: number): void
  tally(row: number, rows: number): number
  readonly unknown: { readonly value: bigint }
  readonly SPACES: Global
  readonly TOTALS: Global
}

/**
 * mpatrol's statistics of one trace, as the only result. Blocks of a process that ends are no longer live, and count as
 * unfreed. Memory grows with the live blocks, and those that ended with a process: 30 to 60 bytes for each. Warns of
 * figures that may be false.
 */
export class MpatrolReport extends FinalReport {
  private readonly kernel = new CountingKernel<TallyExports>('tally')
  private readonly keys = new BlockKeys()
  private readonly reserves = new Reserves()
  private readonly doubts = new BatchWarnings()
  private events = 0

  /** @param chosen the number of the trace to take; the first one, with a warning if there are more, if absent */
  constructor(private readonly chosen?: number) {
    super(chosen ?? 1)
    if (this.kernel.run.begin(Math.floor(Math.random() * 2 ** 32)) === 0) throw tooManyBlocks()
    this.kernel.refresh()
  }

  protected add(batch: EventBatch): void {
    this.doubts.add(batch)
    for (let from = 0; from < batch.count; from += BATCH_EVENTS)
      this.tally(batch, from, Math.min(from + BATCH_EVENTS, batch.count))
    this.events += batch.count
  }

  protected report(): Uint8Array[] {
    const { chosen, traces, warnings, kernel } = this
    if (chosen === undefined && traces > 1) warnings.push(moreTraces(traces))
    const figures = readKernelTotals(kernel)
    warnings.push(...this.doubts.result(figures, Number(kernel.run.unknown.value)))
    return [encodeText(mpatrolText(mpatrolFigures(figures, this.reserves)))]
  }

  /** Counts no more events than the kernel has rows. */
  private tally(batch: EventBatch, from: number, to: number): void {
    const { kernel, keys, reserves } = this
    const { run } = kernel
    keys.spaces = new Int32Array(run.memory.buffer, run.SPACES.value, BATCH_EVENTS)
    const unclear = keys.readSpaces(batch, from, to)
    const rows = (unclear?.row ?? to) - from
    if (keys.hasProcesses) run.watchProcesses()
    kernel.columns.put(batch, from, from + rows, KEY_FIELDS)
    run.intend(rows)
    for (let row = 0; row < rows; row++) {
      row = run.tally(row, rows) >>> 0
      kernel.refresh()
      if (row > rows) throw tooManyBlocks()
      // The kernel leaves reserved memory here: its type is a string.
      if (row < rows && batch.kind[from + row] === Kind.reserve) reserves.take(batch, from + row)
    }
    if (unclear !== undefined) throw unclear.at({ format: batch.header.format, event: this.events + unclear.row + 1 })
  }
}
