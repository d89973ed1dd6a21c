import { HI, LO } from '../bytes/u64.js'
import { U64Map } from '../bytes/u64-map.js'
import type { EventBatch } from '../event/batch.js'
import { Api, Has } from '../event/fields.js'

const HAS_PROCESS = Has.process
const HAS_API = Has.api
const PAGES = Api.pages

/** Processes beyond this many share numbers. */
const MAX_PROCESSES = 0x7fff

/** The bit that sets pages apart. */
const PAGE_BIT = 0x8000_0000 | 0

/**
 * Sets apart equal addresses that mean different memory, by bits for the high word of an address that no address space
 * of today uses for more than a sign: to be combined with it by exclusive or. The same address in two processes is not
 * the same block; nor are the pages of a kernel's page allocator and an object that the kernel placed in them.
 */
export class AddressSpaces {
  private readonly processes = new U64Map(1, 16)
  /** The process of the event before, for it is often the same, and its bits; -1 for none yet. */
  private lastLo = 0
  private lastHi = 0
  private lastBits = -1

  /**
   * @param told what separates address spaces: the set of the fields `process` and `api` (for pages), or fewer for a
   *   format that cannot represent them
   */
  constructor(private readonly told: number = HAS_PROCESS | HAS_API) {}

  /** The bits for the addresses of event i, a signed integer; 0 for events of the first process, or of none. */
  of(batch: EventBatch, i: number): number {
    const mask = (batch.mask[i] as number) & this.told
    const pages = (mask & HAS_API) !== 0 && batch.api[i] === PAGES ? PAGE_BIT : 0
    if ((mask & HAS_PROCESS) === 0) return pages
    const { words } = batch.process
    const lo = (words[2 * i + LO] as number) | 0
    const hi = (words[2 * i + HI] as number) | 0
    if (this.lastBits < 0 || lo !== this.lastLo || hi !== this.lastHi) {
      this.lastBits = this.process(lo, hi)
      this.lastLo = lo
      this.lastHi = hi
    }
    return pages ^ this.lastBits
  }

  clear(): void {
    this.processes.clear()
    this.lastBits = -1
  }

  private process(lo: number, hi: number): number {
    const { processes } = this
    let slot = processes.find(lo, hi)
    if (slot < 0) {
      if (processes.size >= MAX_PROCESSES) return MAX_PROCESSES << 16
      const number = processes.size
      slot = processes.add(lo, hi)
      processes.values[slot] = number << 16
    }
    return processes.values[slot] as number
  }
}
