import { BoundedKeys, FIRST, MAX_KEYS, OTHERS } from '../../blocks/bounded-keys.js'
import { widened } from '../../bytes/widened.js'
import type { Statistics } from './result.js'

/** The content of a table of `Statistics.full`, if its name does not say it. */
export const TABLE_NAMES: Readonly<Partial<Record<Statistics['full'][number], string>>> = {
  siteThreads: 'pairs of a site and a thread',
  handoffs: 'pairs of threads of a site',
}

/** Counts by 64-bit key. */
export class KeyCounts {
  private readonly keys: BoundedKeys
  private counts = new Float64Array(64)

  /** @param limit the number of keys that are counted separately */
  constructor(limit: number = MAX_KEYS) {
    this.keys = new BoundedKeys(limit)
  }

  /** Whether some were counted as others. */
  get overflowed(): boolean {
    return this.keys.overflowed
  }

  add(lo: number, hi: number): void {
    const row = this.keys.row(lo, hi)
    if (row >= this.counts.length) this.counts = widened(this.counts, 2 * this.counts.length)
    this.counts[row] = this.counts[row] + 1
  }

  /** All keys with their counts, the most frequent first, equal ones by key. */
  entries(): { key: bigint; count: number }[] {
    const entries: { key: bigint; count: number }[] = []
    for (let row = FIRST; row < this.keys.size; row++)
      entries.push({ key: this.keys.key(row), count: this.counts[row] })
    return entries.toSorted((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1))
  }

  /** The number of events counted as others. */
  get others(): number {
    return this.counts[OTHERS]
  }
}
