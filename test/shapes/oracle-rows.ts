/** Blocks and bytes. */
export interface Amount {
  blocks: number
  bytes: bigint
}

export const nothing = (): Amount => ({ blocks: 0, bytes: 0n })

export function grow(amount: Amount, bytes: bigint, blocks = 1): void {
  amount.blocks += blocks
  amount.bytes += bytes
}

/** Figures of a site, a size or a thread. */
export class Row {
  readonly live = nothing()
  readonly allocated = nothing()
  readonly atPeak = nothing()
  readonly leaked = nothing()
  readonly temporary = { heaptrack: nothing(), memray: nothing() }
  ownPeak = nothing()
  foreignFrees = 0
  crossCpuFrees = 0
  lived = 0n
  livedTime = 0n
  readonly overhead = { hits: 0, requested: 0n, allocated: 0n }

  begin(bytes: bigint): void {
    grow(this.live, bytes)
    grow(this.allocated, bytes)
    if (this.live.bytes > this.ownPeak.bytes) this.ownPeak = { ...this.live }
  }
}

/** The actions of a thread, besides the figures of its blocks. */
export class ThreadRow extends Row {
  events = 0
  frees = 0
  freedOfOthers = 0
}

/** Rows by name; names that come when the table is full share a row. */
export class Rows<R extends Row> extends Map<string, R> {
  private rest: number

  /**
   * @param most the maximum number of rows
   * @param isFree whether a name has a row that does not count
   */
  constructor(
    private readonly create: () => R,
    most = 65_536,
    private readonly isFree = (name: string): boolean => name === 'none',
  ) {
    super()
    this.rest = most
  }

  of(name: string): R {
    let row = this.get(name)
    if (row !== undefined) return row
    if (name !== 'others' && !this.isFree(name) && this.rest-- <= 0) return this.of('others')
    row = this.create()
    this.set(name, row)
    return row
  }
}

/** Counts of names. */
export class Counts extends Map<string, number> {
  count(name: string | undefined): void {
    if (name !== undefined) this.set(name, (this.get(name) ?? 0) + 1)
  }
}

/** Values by powers of two. */
export class Histogram {
  private readonly bars = new Map<number, number>()
  private count = 0
  private sum = 0n

  add(value: bigint): void {
    const bits = value === 0n ? 0 : value.toString(2).length
    this.bars.set(bits, (this.bars.get(bits) ?? 0) + 1)
    this.count++
    this.sum += value
  }

  result() {
    const { count, sum } = this
    const bars = [...this.bars]
      .toSorted(([a], [b]) => a - b)
      .map(([bits, count]) => ({
        from: bits === 0 ? 0n : 2n ** BigInt(bits - 1),
        to: 2n ** BigInt(bits) - 1n,
        count,
      }))
    return { count, sum, mean: count === 0 ? 0 : Number(sum) / count, bars }
  }
}
