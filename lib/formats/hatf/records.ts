import { widened } from '../../bytes/widened.js'
import type { Kernel } from '../../kernel/instance.js'
import type { HatfKernel } from './kernel.js'

/** The number of records whose layouts are chosen together. */
export const WINDOW_RECORDS = 2048

/** The owner of the records in a kernel's memory. */
const owners = new WeakMap<Kernel<HatfKernel>, Records>()

/**
 * The records of an encoder that have not been written yet. They are stored in the kernel's memory. When another
 * encoder needs that memory, new records are copied out; all of them are copied back before they are written.
 */
export class Records {
  /** The number of records. The encoder sets it after adding some. */
  count = 0
  private readonly length: number
  private readonly bytes: Uint8Array
  private readonly words: Uint32Array
  /** The offset, in words, of the field that holds the end of a record's data. */
  private readonly dataEndAt: number
  private own = new Uint8Array(0)
  /** The number of records, from the first, that `own` holds. */
  private saved = 0
  /** Records before this one are not in the kernel's memory. */
  private from = 0

  constructor(private readonly kernel: Kernel<HatfKernel>) {
    const { memory, RECORDS, RECORD_BYTES, R_DATA_END } = kernel.run
    this.length = RECORD_BYTES.value
    this.bytes = new Uint8Array(memory.buffer, RECORDS.value)
    this.words = new Uint32Array(memory.buffer, RECORDS.value)
    this.dataEndAt = R_DATA_END.value / 4
  }

  /** Takes over the kernel's memory, so that records can be added. */
  enter(): void {
    const owner = owners.get(this.kernel)
    if (owner === this) return
    owner?.leave()
    owners.set(this.kernel, this)
    this.from = this.count
  }

  /** Ensures that all records are in the kernel's memory. */
  restore(): void {
    if (this.from > 0) this.bytes.set(this.own.subarray(0, this.from * this.length))
    this.from = 0
  }

  clear(): void {
    this.count = 0
    this.saved = 0
    this.from = 0
  }

  /** The end of a record's data within the data of all records. */
  dataEnd(r: number): number {
    return this.words[(r * this.length) / 4 + this.dataEndAt]
  }

  /** Sets the end of the last record's data. */
  endData(end: number): void {
    this.words[((this.count - 1) * this.length) / 4 + this.dataEndAt] = end
  }

  private leave(): void {
    const { length, saved, count } = this
    if (this.own.length < count * length) this.own = widened(this.own, 2 * count * length)
    this.own.set(this.bytes.subarray(saved * length, count * length), saved * length)
    this.saved = count
  }
}
