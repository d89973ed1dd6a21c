import type { EventBatch } from '../../event/batch.js'
import { BlockEffect } from '../../blocks/block-effect.js'
import type { StatisticsKernel } from './kernel.js'
import { NONE } from './keys.js'
import type { Overhead, SiteStatistics } from './result.js'
import { OWN, sharesAt } from './shares.js'
import { HAS_SITE, SiteKeys } from './site-keys.js'

const { began: BEGAN } = BlockEffect

/** Where a row of kernel/statistics/owners.ts has what only sites have, in bytes. */
const [MOST, CROSS_CPU, HITS, REQUESTED, USABLE] = [OWN, OWN + 16, OWN + 24, OWN + 32, OWN + 48]

/** For the kernel: the event does not say its site, so a block that it resizes keeps the site that it has. */
const UNSAID = -1

/** What came from each site. */
export class SiteTable {
  private readonly keys = new SiteKeys()

  constructor(private readonly kernel: StatisticsKernel) {}

  /** One past the last row in use. */
  get size(): number {
    return this.keys.size
  }

  /** Whether some sites were counted as others. */
  get overflowed(): boolean {
    return this.keys.overflowed
  }

  /** Gives the kernel the sites of events `from` to `to` of a batch, as far as they began blocks. */
  assign(batch: EventBatch, from: number, to: number, effects: Uint8Array): void {
    const {
      keys,
      kernel: { run },
    } = this
    const rows = new Int32Array(run.memory.buffer, run.SITES.value, to - from)
    if ((batch.columns & HAS_SITE) === 0) {
      rows.fill(UNSAID)
      return
    }
    const { mask } = batch
    keys.begin(batch)
    for (let i = from; i < to; i++) {
      if (((effects[i - from] as number) & BEGAN) === 0) continue
      rows[i - from] = ((mask[i] as number) & HAS_SITE) !== 0 ? keys.row(batch, i) : UNSAID
    }
  }

  /** Every site with its figures, the most bytes first. */
  result(hasCpus: boolean): SiteStatistics[] {
    const { kernel } = this
    const sites: SiteStatistics[] = []
    for (let row = NONE; row < this.size; row++) {
      const at = this.at(row)
      const shares = sharesAt(kernel, at)
      if (shares.allocated.blocks === 0) continue
      const overhead = this.overhead(row)
      sites.push({
        ...this.keys.site(row),
        ...shares,
        ownPeakBytes: kernel.sum(at + MOST),
        ...(overhead && { overhead }),
        ...(hasCpus && { crossCpuFrees: kernel.number(at + CROSS_CPU) }),
      })
    }
    // Equal ones stay in order of first use.
    return sites.toSorted(
      (a, b) => descending(a.allocated.bytes, b.allocated.bytes) || b.allocated.blocks - a.allocated.blocks,
    )
  }

  /** What all allocations took together; undefined if none says. */
  totalOverhead(): Overhead | undefined {
    let total: Overhead | undefined
    for (let row = NONE; row < this.size; row++) {
      const { hits, requested, allocated, wasted } = this.overhead(row) ?? {}
      if (hits === undefined) continue
      total ??= { hits: 0, requested: 0n, allocated: 0n, wasted: 0n }
      total.hits += hits
      total.requested += requested as bigint
      total.allocated += allocated as bigint
      total.wasted += wasted as bigint
    }
    return total
  }

  private at(row: number): number {
    const { siteTable, SITE_BYTES } = this.kernel.run
    return siteTable.value + row * SITE_BYTES.value
  }

  private overhead(row: number): Overhead | undefined {
    const { kernel } = this
    const at = this.at(row)
    const hits = kernel.number(at + HITS)
    if (hits === 0) return undefined
    const requested = kernel.sum(at + REQUESTED)
    const allocated = kernel.sum(at + USABLE)
    return { hits, requested, allocated, wasted: allocated - requested }
  }
}

/** Orders integers from large to small. */
export function descending(a: bigint, b: bigint): number {
  return a < b ? 1 : a > b ? -1 : 0
}
