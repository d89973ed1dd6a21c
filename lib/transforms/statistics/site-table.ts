import type { EventBatch } from '../../event/batch.js'
import { NONE } from './keys.js'
import type { Overhead, SiteStatistics } from './result.js'
import { SiteKeys } from './site-keys.js'
import { SumColumn, widened } from './sums.js'

/** What came from each site. */
export class SiteTable {
  private readonly keys = new SiteKeys()
  private rows = 256
  private allocations = new Float64Array(this.rows)
  private temporary = new Float64Array(this.rows)
  private live = new Float64Array(this.rows)
  private leaks = new Float64Array(this.rows)
  private crossCpu = new Float64Array(this.rows)
  private hits = new Float64Array(this.rows)
  private readonly bytes = new SumColumn(this.rows)
  private readonly liveBytes = new SumColumn(this.rows)
  private readonly peakBytes = new SumColumn(this.rows)
  private readonly leakBytes = new SumColumn(this.rows)
  /** Of allocations that tell both. */
  private readonly requested = new SumColumn(this.rows)
  private readonly usable = new SumColumn(this.rows)

  /** Whether some sites were counted as others. */
  get overflowed(): boolean {
    return this.keys.overflowed
  }

  /** Makes ready for the events of a batch. */
  begin(batch: EventBatch): void {
    this.keys.begin(batch)
  }

  /** The row of an event that has a field of `HAS_SITE`. */
  row(batch: EventBatch, i: number): number {
    const row = this.keys.row(batch, i)
    if (row >= this.rows) this.grow()
    return row
  }

  /** A block of this size began. */
  allocation(row: number, lo: number, hi: number): void {
    this.allocations[row] = (this.allocations[row] as number) + 1
    this.live[row] = (this.live[row] as number) + 1
    this.bytes.add(row, lo, hi)
    this.liveBytes.add(row, lo, hi)
    this.peakBytes.raise(row, this.liveBytes)
  }

  /** An allocation took so many bytes for so many that it asked for. */
  took(row: number, requestedLo: number, requestedHi: number, usableLo: number, usableHi: number): void {
    this.hits[row] = (this.hits[row] as number) + 1
    this.requested.add(row, requestedLo, requestedHi)
    this.usable.add(row, usableLo, usableHi)
  }

  /** A block of this size from here is no more. */
  vanish(row: number, lo: number, hi: number): void {
    this.live[row] = (this.live[row] as number) - 1
    this.liveBytes.subtract(row, lo, hi)
  }

  /** A block from here was freed at once. */
  countTemporary(row: number): void {
    this.temporary[row] = (this.temporary[row] as number) + 1
  }

  /** A block from here was freed on another CPU. */
  countCrossCpu(row: number): void {
    this.crossCpu[row] = (this.crossCpu[row] as number) + 1
  }

  /** A trace ended: what is live has leaked. */
  endTrace(): void {
    for (let row = 0; row < this.rows; row++) this.leaks[row] = (this.leaks[row] as number) + (this.live[row] as number)
    this.live.fill(0)
    this.leakBytes.absorb(this.liveBytes)
  }

  /** Every site with its figures, the most bytes first. */
  result(hasCpus: boolean): SiteStatistics[] {
    const sites: SiteStatistics[] = []
    for (let row = NONE; row < this.keys.size; row++) {
      if (this.allocations[row] === 0) continue
      const overhead = this.overhead(row)
      sites.push({
        ...this.keys.site(row),
        allocated: { blocks: this.allocations[row] as number, bytes: this.bytes.value(row) },
        temporary: this.temporary[row] as number,
        leaked: { blocks: this.leaks[row] as number, bytes: this.leakBytes.value(row) },
        peakBytes: this.peakBytes.value(row),
        ...(overhead && { overhead }),
        ...(hasCpus && { crossCpuFrees: this.crossCpu[row] as number }),
      })
    }
    // Equal ones stay in order of first use.
    return sites.toSorted((a, b) => descending(a.allocated.bytes, b.allocated.bytes) || b.allocated.blocks - a.allocated.blocks)
  }

  /** What all allocations took together; undefined if none tells. */
  totalOverhead(): Overhead | undefined {
    let total: Overhead | undefined
    for (let row = NONE; row < this.keys.size; row++) {
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

  private overhead(row: number): Overhead | undefined {
    if (this.hits[row] === 0) return undefined
    const requested = this.requested.value(row)
    const allocated = this.usable.value(row)
    return { hits: this.hits[row] as number, requested, allocated, wasted: allocated - requested }
  }

  private grow(): void {
    const rows = 2 * this.rows
    this.rows = rows
    this.allocations = widened(this.allocations, new Float64Array(rows))
    this.temporary = widened(this.temporary, new Float64Array(rows))
    this.live = widened(this.live, new Float64Array(rows))
    this.leaks = widened(this.leaks, new Float64Array(rows))
    this.crossCpu = widened(this.crossCpu, new Float64Array(rows))
    this.hits = widened(this.hits, new Float64Array(rows))
    for (const column of [this.bytes, this.liveBytes, this.peakBytes, this.leakBytes, this.requested, this.usable]) column.grow(rows)
  }
}

/** Orders integers from large to small. */
export function descending(a: bigint, b: bigint): number {
  return a < b ? 1 : a > b ? -1 : 0
}
