import { HI, LO } from '../../bytes/u64.js'
import { U64Map } from '../../bytes/u64-map.js'
import { FIRST, MAX_KEYS, NONE, OTHERS } from '../../kernel/layouts/owners.js'
import type { Statistics } from './result.js'
import { widened } from './sums.js'

export { FIRST, MAX_KEYS, NONE, OTHERS }

/** What a table of `Statistics.full` is of, where its name is not that. */
export const TABLE_NAMES: Readonly<Partial<Record<Statistics['full'][number], string>>> = {
  siteThreads: 'pairs of a site and a thread',
  handoffs: 'pairs of threads of a site',
}

/** Numbers 64-bit keys by rows from `FIRST`, in order of first use, and at most this many. */
export class BoundedKeys {
  /** One past the last row in use. */
  size = FIRST
  private readonly rows = new U64Map(1, 64)
  private keys = new Uint32Array(64)

  /** @param limit the number of keys that get their own row */
  constructor(private readonly limit: number = MAX_KEYS) {}

  /** Whether there were more keys than rows. */
  overflowed = false

  /** The key's row: `OTHERS` when it is new and there is no row left. */
  row(lo: number, hi: number): number {
    const { rows } = this
    const slot = rows.find(lo, hi)
    return slot >= 0 ? rows.values[slot] : this.add(lo, hi)
  }

  /** The key of a row. */
  key(row: number): bigint {
    return (BigInt(this.keys[2 * row + HI]) << 32n) | BigInt(this.keys[2 * row + LO])
  }

  /** The low word of a row's key. */
  low(row: number): number {
    return this.keys[2 * row + LO]
  }

  /** The high word of a row's key. */
  high(row: number): number {
    return this.keys[2 * row + HI]
  }

  /** The row for events known to have no key. */
  overflow(): number {
    this.overflowed = true
    return OTHERS
  }

  private add(lo: number, hi: number): number {
    if (this.size - FIRST === this.limit) return this.overflow()
    const row = this.size++
    if (2 * row >= this.keys.length) this.keys = widened(this.keys, new Uint32Array(2 * this.keys.length))
    this.keys[2 * row + LO] = lo
    this.keys[2 * row + HI] = hi
    const slot = this.rows.add(lo, hi)
    this.rows.values[slot] = row
    return row
  }
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
    if (row >= this.counts.length) this.counts = widened(this.counts, new Float64Array(2 * this.counts.length))
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
