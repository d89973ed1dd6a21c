import { HI, LO, WORD } from '../../bytes/u64.js'

/** A loaded part of a module: its address, and its module. */
interface Segment {
  readonly start: bigint
  readonly end: bigint
  readonly base: bigint
  /** The number of its name in the table of strings. */
  readonly name: number
}

/** The module that contains an address. */
interface ModuleAt {
  /** The number of its name; 0 if no module contains the address. */
  name: number
  /** The words of its start address. */
  readonly base: Uint32Array
}

/** The modules that are loaded according to a raw file. */
export class Modules {
  /** Ordered by start address; parts with the same start are in the order in which they were added. */
  private segments: Segment[] = []
  private readonly found: ModuleAt = { name: 0, base: new Uint32Array(2) }
  private readonly value = new BigUint64Array(this.found.base.buffer as ArrayBuffer)

  clear(): void {
    this.segments = []
  }

  /** The number of parts of modules. */
  get size(): number {
    return this.segments.length
  }

  /** Adds a part of a module that is loaded at an address. */
  add(name: number, base: bigint, address: bigint, size: bigint): void {
    const start = BigInt.asUintN(64, base + address)
    this.segments.splice(this.after(start), 0, { start, end: start + size, base, name })
  }

  at(lo: number, hi: number): ModuleAt {
    const { segments, found } = this
    const address = (BigInt(hi) << 32n) | BigInt(lo)
    const segment = segments[this.after(address) - 1]
    found.name = segment !== undefined && address < segment.end ? segment.name : 0
    this.value[0] = segment?.base ?? 0n
    return found
  }

  /** The number of parts that begin at or before an address. */
  private after(address: bigint): number {
    const { segments } = this
    let from = 0
    let to = segments.length
    while (from < to) {
      const middle = (from + to) >> 1
      if (segments[middle].start <= address) from = middle + 1
      else to = middle
    }
    return from
  }
}

/** A 64-bit number of two words. */
export function u64(words: ArrayLike<number>, at: number): bigint {
  const lo = words[at + LO]
  const hi = words[at + HI]
  return hi === 0 ? BigInt(lo) : BigInt(hi) * BigInt(WORD) + BigInt(lo)
}
