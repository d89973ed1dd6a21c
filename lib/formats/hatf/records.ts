import type { Kernel } from '../../kernel/instance.js'
import type { HatfKernel } from './kernel.js'

/** How many records are looked at together to choose their layouts. */
export const WINDOW_RECORDS = 2048

/** Whose records lie in the kernel's memory. */
const owners = new WeakMap<Kernel<HatfKernel>, Records>()

/**
 * The records of an encoder that have not been written yet. They lie in the kernel's memory. When another encoder needs
 * it, those that are new are copied out of it, and all of them are copied back when they are to be written.
 */
export class Records {
  /** How many records there are. The encoder sets it when it has added some. */
  count = 0
  private readonly length: number
  private readonly bytes: Uint8Array
  private readonly words: Uint32Array
  /** Where a record says where its data ends, in words. */
  private readonly dataEndAt: number
  private own = new Uint8Array(0)
  /** How many records, from the first, are in `own`. */
  private saved = 0
  /** The records before this one are not in the kernel's memory. */
  private from = 0

  constructor(private readonly kernel: Kernel<HatfKernel>) {
    const { memory, RECORDS, RECORD_BYTES, R_DATA_END } = kernel.run
    this.length = RECORD_BYTES.value
    this.bytes = new Uint8Array(memory.buffer, RECORDS.value)
    this.words = new Uint32Array(memory.buffer, RECORDS.value)
    this.dataEndAt = R_DATA_END.value / 4
  }

  /** Makes the kernel's memory its own: records can be added. */
  enter(): void {
    const owner = owners.get(this.kernel)
    if (owner === this) return
    owner?.leave()
    owners.set(this.kernel, this)
    this.from = this.count
  }

  /** Makes sure that all records are there. */
  restore(): void {
    if (this.from > 0) this.bytes.set(this.own.subarray(0, this.from * this.length))
    this.from = 0
  }

  /** Forgets all records. */
  clear(): void {
    this.count = 0
    this.saved = 0
    this.from = 0
  }

  /** Where the data of a record ends in that of all. */
  dataEnd(r: number): number {
    return this.words[(r * this.length) / 4 + this.dataEndAt] as number
  }

  /** Sets where the data of the last record ends. */
  endData(end: number): void {
    this.words[((this.count - 1) * this.length) / 4 + this.dataEndAt] = end
  }

  private leave(): void {
    const { length, saved, count } = this
    if (this.own.length < count * length) {
      const bigger = new Uint8Array(2 * count * length)
      bigger.set(this.own.subarray(0, saved * length))
      this.own = bigger
    }
    this.own.set(this.bytes.subarray(saved * length, count * length), saved * length)
    this.saved = count
  }
}
