import { HI, LO } from '../bytes/u64.js'
import { U64Map } from '../bytes/u64-map.js'
import type { EventBatch } from '../event/batch.js'
import { TraceError, type TracePosition } from '../event/error.js'
import { Api, FieldBit, Kind } from '../event/fields.js'
import { NO_SPACE } from '../kernel/layouts/live.js'

const { process: HAS_PROCESS, api: HAS_API, index: HAS_INDEX, address: HAS_ADDRESS } = FieldBit
const { oldAddress: HAS_OLD_ADDRESS } = FieldBit
/** The APIs from `kmalloc` on are functions of a kernel. */
const { kmalloc: KMALLOC, pages: PAGES } = Api
/** The last of the kinds that are about blocks. */
const LAST_OF_BLOCKS = Kind.existing

/** The maximum number of processes whose blocks are distinguished at the same time. */
export const MAX_PROCESSES = 0x7fff
/** The number of a process is above these bits, and this bit of them is set when the process has ended. */
const NUMBER_SHIFT = 16
const ENDED = 1
/** The number of the first process. */
const FIRST = 1

/** The bit that distinguishes pages. */
export const PAGE_BIT = 0x8000_0000 | 0

/**
 * Distinguishes equal addresses that mean different memory, by bits that are combined with the high word of an address
 * by exclusive or. Today's address spaces use these bits only for a sign. The same address in two processes means
 * different blocks, and so do the pages of a kernel's page allocator and an object that the kernel placed in them.
 * Events without a process have a separate address space, so that a part of a trace has the same blocks as the whole.
 *
 * A process that has ended keeps its bits until they are needed for another one. The first process keeps them for ever.
 */
export class AddressSpaces {
  private readonly processes = new U64Map(1, 16)
  /** Processes that have ended, in this order, except those with later events. */
  private readonly ended = new Set<bigint>()
  /** Gives them in this order. From the beginning of the set, it would take time to pass over what was removed. */
  private oldest = this.ended.values()
  /** The process of the previous event, which is often the same, and its bits; -1 before the first. */
  private lastLo = 0
  private lastHi = 0
  private lastBits = -1
  /** The bits from 48 to 62 that differ among addresses of processes with the same bit 63. */
  private wide = 0
  /** By bit 63, the bits from 48 on of the first address; -1 before it. */
  private firstLow = -1
  private firstHigh = -1

  /**
   * @param told the fields that separate address spaces: `process` and `api` (for pages), or fewer for a format that
   *   cannot represent them
   */
  constructor(private readonly told: number = HAS_PROCESS | HAS_API) {}

  /**
   * The bits for the addresses of event i, a signed integer; 0 for events without a process, except pages.
   * @throws SpacesError when the blocks of processes cannot be distinguished: too many processes have not ended, or
   *   addresses differ in the bits from 48 on that distinguish processes (tags in the highest byte do so only from 256
   *   processes on)
   */
  of(batch: EventBatch, i: number): number {
    const mask = batch.mask[i] & this.told
    const pages = (mask & HAS_API) !== 0 && batch.api[i] === PAGES ? PAGE_BIT : 0
    if ((mask & HAS_PROCESS) === 0) return pages
    const { words } = batch.process
    const lo = words[2 * i + LO] | 0
    const hi = words[2 * i + HI] | 0
    const isLast = this.lastBits >= 0 && lo === this.lastLo && hi === this.lastHi
    let slot = isLast ? 0 : this.processes.find(lo, hi)
    // The error also describes the events before it, so nothing is noted of its event.
    this.check(batch, i, slot < 0)
    if (!isLast) {
      if (slot < 0) slot = this.add(lo, hi)
      else if ((this.processes.values[slot] & ENDED) !== 0) this.goesOn(slot, batch.process.values[i])
      this.lastBits = this.processes.values[slot]
      this.lastLo = lo
      this.lastHi = hi
    }
    return pages ^ this.lastBits
  }

  /** Whether processes separate address spaces. */
  get tellsProcesses(): boolean {
    return (this.told & HAS_PROCESS) !== 0
  }

  /** As `of`, for an event about a process: `NO_SPACE` if no event about a block belongs to that process. */
  known(batch: EventBatch, i: number): number {
    if (!this.tellsProcesses) return NO_SPACE
    if ((batch.mask[i] & HAS_PROCESS) === 0) return 0
    const { words } = batch.process
    const slot = this.processes.find(words[2 * i + LO] | 0, words[2 * i + HI] | 0)
    return slot < 0 ? NO_SPACE : this.processes.values[slot] & ~ENDED
  }

  /** As `known`, for the end of a process. Only where all ends are told may bits be given to another process. */
  end(batch: EventBatch, i: number): number {
    const bits = this.known(batch, i)
    if (bits <= FIRST << NUMBER_SHIFT) return bits
    const { words } = batch.process
    this.processes.values[this.processes.find(words[2 * i + LO] | 0, words[2 * i + HI] | 0)] = bits | ENDED
    this.ended.add(batch.process.values[i])
    this.lastBits = -1
    return bits
  }

  /**
   * The bits of events `from` to `to` of a batch that identify blocks by address, in rows from 0 on. The lowest bit of
   * a row does not belong to them: it means that a function of a kernel made the event.
   * @returns whether any row is not 0
   */
  fill(batch: EventBatch, from: number, to: number, rows: Int32Array): boolean {
    const { kind, mask, api, columns } = batch
    if ((columns & (HAS_PROCESS | HAS_API)) === 0) return false
    let all = 0
    for (let i = from, row = 0; i < to; i++, row++) {
      const fields = mask[i]
      let bits = 0
      if (kind[i] <= LAST_OF_BLOCKS && (fields & HAS_INDEX) === 0) {
        const isKernel = (fields & HAS_API) !== 0 && api[i] >= KMALLOC
        if (isKernel || (fields & HAS_PROCESS) !== 0) bits = this.of(batch, i) | (isKernel ? 1 : 0)
      }
      rows[row] = bits
      all |= bits
    }
    return all !== 0
  }

  clear(): void {
    this.processes.clear()
    this.ended.clear()
    this.oldest = this.ended.values()
    this.lastBits = -1
    this.wide = 0
    this.firstLow = this.firstHigh = -1
  }

  private add(lo: number, hi: number): number {
    const { processes } = this
    const bits = processes.size < MAX_PROCESSES ? (processes.size + 1) << NUMBER_SHIFT : this.takeBits()
    const slot = processes.add(lo, hi)
    processes.values[slot] = bits
    return slot
  }

  /** The bits of the process that ended first, which is forgotten. */
  private takeBits(): number {
    const { ended, processes } = this
    const process = this.oldest.next().value as bigint
    ended.delete(process)
    const slot = processes.find(Number(process & 0xffff_ffffn) | 0, Number(process >> 32n) | 0)
    const bits = processes.values[slot] & ~ENDED
    processes.remove(slot)
    return bits
  }

  /** Notes that there is an event of a process after its end. */
  private goesOn(slot: number, process: bigint): void {
    this.processes.values[slot] = this.processes.values[slot] & ~ENDED
    this.ended.delete(process)
  }

  /** Looks at the process and the addresses that identify the blocks of event i. @throws SpacesError */
  private check(batch: EventBatch, i: number, isNew: boolean): void {
    const mask = batch.mask[i]
    const all = this.processes.size + (isNew ? 1 : 0)
    if (all > MAX_PROCESSES && this.ended.size === 0)
      throw new SpacesError(`more than ${MAX_PROCESSES} processes`, i, batch.header)
    const count = Math.min(all, MAX_PROCESSES)
    let { wide } = this
    if ((mask & HAS_INDEX) === 0) {
      if ((mask & HAS_ADDRESS) !== 0) wide |= this.difference(batch.address.words[2 * i + HI] >>> 16)
      if ((mask & HAS_OLD_ADDRESS) !== 0) wide |= this.difference(batch.oldAddress.words[2 * i + HI] >>> 16)
    }
    // All numbers are below the power of two that is above the number of processes.
    if (wide !== 0 && count > 1 && (wide & (2 ** (32 - Math.clz32(count)) - 1)) !== 0)
      throw new SpacesError('several processes at addresses of more than 48 bits', i, batch.header)
    this.wide = wide
  }

  /** The bits in which an address differs from the first one with the same highest bit. */
  private difference(bits: number): number {
    if (bits >= 0x8000) {
      if (this.firstHigh < 0) this.firstHigh = bits
      return bits ^ this.firstHigh
    }
    if (this.firstLow < 0) this.firstLow = bits
    return bits ^ this.firstLow
  }
}

/** The blocks of several processes cannot be distinguished from an event on. */
export class SpacesError extends TraceError {
  /** Not only an error with a code, as any `TraceError` is. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return super[Symbol.hasInstance](value) && 'whose' in (value as TraceError)
  }

  /**
   * @param whose the blocks
   * @param row the place of the event in its batch
   */
  constructor(
    private readonly whose: string,
    readonly row: number,
    at: TracePosition,
  ) {
    super('ERR_TRACE_LIMIT', `over the limit: blocks of ${whose} cannot be told apart`, at)
  }

  /** The same error with the place of the event in its trace. */
  at(position: TracePosition): SpacesError {
    return new SpacesError(this.whose, this.row, position)
  }
}
