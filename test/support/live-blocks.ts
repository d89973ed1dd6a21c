import type { TraceEvent } from '../../lib/event/batch.js'

/** The live set at the end of a trace, by plain arithmetic. */
export class LiveBlocks {
  readonly sizes = new Map<bigint, bigint>()
  bytes = 0n
  peak = 0n
  /** Allocations at an address that is live, and frees of one that is not. */
  again = 0
  unknown = 0

  /** @param keeps a block that is allocated again keeps its first size, as in glibc's script */
  constructor(private readonly keeps = false) {}

  add(event: TraceEvent): void {
    const { kind, address = 0n, oldAddress = 0n, size = 0n, outcome } = event
    if (kind === 'free') this.free(address)
    else if (kind === 'alloc') this.alloc(address, size)
    else if (kind === 'realloc') {
      const failed = address === 0n && size !== 0n && outcome === undefined
      if (oldAddress !== 0n && !failed) this.free(oldAddress)
      this.alloc(address, size)
    }
  }

  private free(address: bigint): void {
    if (address === 0n) return
    const size = this.sizes.get(address)
    if (size === undefined) this.unknown++
    this.bytes -= size ?? 0n
    this.sizes.delete(address)
  }

  private alloc(address: bigint, size: bigint): void {
    if (address === 0n) return
    const before = this.sizes.get(address)
    if (before !== undefined) this.again++
    if (before !== undefined && this.keeps) return
    this.bytes += size - (before ?? 0n)
    this.sizes.set(address, size)
    if (this.bytes > this.peak) this.peak = this.bytes
  }
}
