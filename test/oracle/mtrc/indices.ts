import type { EventBatch } from '../../../lib/event/batch.js'
import { Api, FieldBit, Kind, Outcome } from '../../../lib/event/fields.js'
import { RECORD } from '../../../lib/formats/mtrc/layout.js'

const { alloc: A, free: F, realloc: R } = RECORD
const LARGEST = 2n ** 64n - 1n

/** What `BlockIndices` gives for an event that has no record. */
export const LEFT_OUT = 0

/**
 * The blocks of a trace: gives indices to events that have none, 1, 2, 3 ... as blocks are made, and says what a reader
 * will not find out about a block from its index.
 */
export class BlockIndices {
  /** The index that was chosen. */
  index = 0n
  /** What was changed, or why the event is left out; empty when the record says all that the event says. */
  reasons: string[] = []
  private largest = 0n
  private assigned: { from: bigint; to: bigint } | undefined
  /** Blocks without an index, by their address in its space. */
  private readonly unnumbered = new Map<string, { index: bigint; size: bigint }>()
  /** Where the event is: in this process, by this function of a kernel. */
  private process: bigint | undefined
  private isPages = false
  private isKernel = false
  /** Blocks that came with an index, by that. */
  private readonly numbered = new Map<bigint, { address: bigint; size: bigint }>()

  /** Another trace begins. */
  clear(): void {
    this.unnumbered.clear()
    this.numbered.clear()
    this.largest = 0n
    this.assigned = undefined
  }

  /** Avoids an index that an event brought. */
  passOver(index: bigint): void {
    if (index > this.largest) this.largest = index
  }

  /** Follows an event that has an index. @returns the record's type */
  follow(batch: EventBatch, i: number): number {
    this.reasons = []
    const index = batch.index.values[i]
    this.index = index
    this.passOver(index)
    const kind = batch.kind[i]
    const block = this.numbered.get(index)
    const has = (field: 'address' | 'size' | 'oldAddress') => (batch.mask[i] & FieldBit[field]) !== 0
    const value = (field: 'address' | 'size' | 'oldAddress') => (has(field) ? batch[field].values[i] : 0n)
    const compare = (field: 'address' | 'size' | 'oldAddress', kinds: string, is: bigint | undefined) => {
      if (!has(field) || is === value(field)) return
      const why = is === undefined ? `of blocks that are not in the trace` : 'that is not that of their block'
      this.reasons.push(`${field} of ${kinds} ${why}`)
    }
    if ((kind === Kind.alloc || kind === Kind.existing || block === undefined) && this.isAssigned(index)) {
      this.reasons.push('indices that another block got')
    }
    if (kind === Kind.free) {
      compare('address', 'frees', block?.address)
      compare('size', 'frees', block?.size)
      this.numbered.delete(index)
      return F
    }
    if (kind === Kind.realloc) compare('oldAddress', 'reallocs', block?.address)
    if (kind === Kind.existing) this.reasons.push('existing blocks, written as allocs')
    this.numbered.set(index, { address: value('address'), size: value('size') })
    return kind === Kind.realloc ? R : A
  }

  private isAssigned(index: bigint): boolean {
    return this.assigned !== undefined && index >= this.assigned.from && index <= this.assigned.to
  }

  /**
   * Finds the record for an alloc, existing, realloc or free without an index, and sets `index` and `reasons`.
   * @returns the record's type, or `LEFT_OUT`
   */
  assign(batch: EventBatch, i: number): number {
    this.reasons = []
    const fields = batch.mask[i]
    const address = (fields & FieldBit.address) !== 0 ? batch.address.values[i] : 0n
    const size = (fields & FieldBit.size) !== 0 ? batch.size.values[i] : undefined
    const api = (fields & FieldBit.api) !== 0 ? batch.api[i] : undefined
    this.process = (fields & FieldBit.process) !== 0 ? batch.process.values[i] : undefined
    this.isPages = api === Api.pages
    this.isKernel = api !== undefined && api >= Api.kmalloc
    switch (batch.kind[i]) {
      case Kind.free:
        return this.free(address, size)
      case Kind.realloc:
        return this.realloc(batch, i, address, size ?? 0n)
      case Kind.existing:
        return this.alloc(address, size, 'existing blocks, written as allocs')
      default:
        return this.alloc(address, size)
    }
  }

  private alloc(address: bigint, size = 0n, reason?: string): number {
    if (address === 0n) return this.leaveOut('allocs without an address')
    if (this.largest === LARGEST) return this.leaveOut('allocs for which there is no index left')
    if (reason !== undefined) this.reasons.push(reason)
    this.index = ++this.largest
    this.assigned = { from: this.assigned?.from ?? this.index, to: this.index }
    this.place(address, size)
    return A
  }

  private free(address: bigint, size?: bigint, reason?: string): number {
    if (address === 0n) return this.leaveOut('frees of null')
    const block = this.take(address)
    if (block === undefined) return this.leaveOut('frees of unknown blocks')
    this.index = block.index
    if (reason !== undefined) this.reasons.push(reason)
    if (size !== undefined && size !== block.size) this.reasons.push('size of frees that is not that of their block')
    return F
  }

  private realloc(batch: EventBatch, i: number, address: bigint, size: bigint): number {
    const fields = batch.mask[i]
    const outcome = (fields & FieldBit.outcome) !== 0 ? batch.outcome[i] : undefined
    const from = (fields & FieldBit.oldAddress) !== 0 && outcome !== Outcome.allocated
    let old = from ? batch.oldAddress.values[i] : 0n
    if (outcome === Outcome.none) {
      // One address is enough to say where the block stayed.
      if ((fields & FieldBit.oldAddress) === 0) old = address
      else if ((fields & FieldBit.address) === 0) address = old
    }
    const gone = address === 0n || outcome === Outcome.freed
    if (old === 0n) {
      return gone
        ? this.leaveOut('reallocs of null to null')
        : this.alloc(address, size, 'reallocs of null, written as allocs')
    }
    if (gone) {
      // A null result for a size other than 0 means that there was no memory: the old block lives on.
      if ((size !== 0n || outcome === Outcome.none) && outcome !== Outcome.freed)
        return this.leaveOut('failed reallocs')
      return this.free(old, undefined, 'reallocs to nothing, written as frees')
    }
    const block = this.take(old)
    if (block === undefined) return this.alloc(address, size, 'reallocs of unknown blocks, written as allocs')
    this.index = block.index
    this.place(address, size)
    return R
  }

  /** Notes where the block with the index is now. Another one there stays live for readers. */
  private place(address: bigint, size: bigint): void {
    const key = this.key(address)
    if (this.unnumbered.has(key)) this.reasons.push('blocks at the address of a live one, which stays live')
    this.unnumbered.set(key, { index: this.index, size })
  }

  private key(address: bigint, isPages = this.isPages): string {
    return `${this.process} ${isPages} ${address}`
  }

  /** The block at an address, which is not there any more. A kernel may free pages as an object, or the reverse. */
  private take(address: bigint): { index: bigint; size: bigint } | undefined {
    const keys = [this.key(address), ...(this.isKernel ? [this.key(address, !this.isPages)] : [])]
    const found = keys.find((key) => this.unnumbered.has(key))
    if (found === undefined) return undefined
    const block = this.unnumbered.get(found)
    this.unnumbered.delete(found)
    return block
  }

  private leaveOut(reason: string): number {
    this.reasons.push(reason)
    return LEFT_OUT
  }
}
