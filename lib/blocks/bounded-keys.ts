import { HI, LO, wide } from '../bytes/u64.js'
import { U64Map } from '../bytes/u64-map.js'
import { widened } from '../bytes/widened.js'
import { FIRST, MAX_KEYS, NONE, OTHERS } from '../kernel/layouts/owners.js'

export { FIRST, MAX_KEYS, NONE, OTHERS }

/** Numbers 64-bit keys by rows from `FIRST`, in order of first use, up to a limit. */
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

  key(row: number): bigint {
    return wide(this.keys[2 * row + LO], this.keys[2 * row + HI])
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
    if (2 * row >= this.keys.length) this.keys = widened(this.keys, 2 * this.keys.length)
    this.keys[2 * row + LO] = lo
    this.keys[2 * row + HI] = hi
    const slot = this.rows.add(lo, hi)
    this.rows.values[slot] = row
    return row
  }
}
