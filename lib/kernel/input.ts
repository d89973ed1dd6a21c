import type { Input } from '../bytes/input.js'
import { KERNEL_INPUT } from './layouts/input.js'
import type { KernelExports } from './load.js'

export { KERNEL_INPUT }

/** The bytes to keep are few if there are this many times as many before them. */
const FEW = 16

/** The part of an input that is in a kernel's memory. Decoders of one format share a kernel and take turns. */
export class KernelInput {
  private readonly bytes: Uint8Array
  private readonly address: number
  private owner: Input | null = null
  /** The offsets in the owner's stream of the first byte in memory, and of the byte after the last. */
  private first = 0
  private last = 0

  constructor(exports: KernelExports) {
    this.address = exports.INPUT?.value ?? 0
    this.bytes = new Uint8Array(exports.memory.buffer, this.address, KERNEL_INPUT)
  }

  /** The address after the last byte in memory. */
  get end(): number {
    return this.address + this.last - this.first
  }

  /**
   * Ensures that the unread bytes of an input, or the first `least` of them, are in memory.
   * @param end the position after the last byte needed, as an index like `input.pos`
   * @param least the number of unread bytes that makes a call worthwhile
   * @returns the address of the first unread byte
   */
  load(input: Input, end = input.end, least = KERNEL_INPUT / 4): number {
    const { offset } = input
    const wanted = offset + end - input.pos
    const here = this.owner === input && offset >= this.first && offset <= this.last && this.last <= wanted
    if (!here || this.last - offset < Math.min(wanted - offset, least)) {
      // Bytes already in memory stay unless they are few beside those that were read: a record that arrives in tiny
      // pieces is not copied again for each of them. Otherwise the next ones take the place of those that were read,
      // which is still in the processor's cache.
      const left = this.last - offset
      if (!here || wanted - this.first > KERNEL_INPUT || offset - this.first > FEW * left) {
        this.owner = input
        this.first = this.last = offset
      }
      const from = input.pos + this.last - offset
      const to = Math.min(wanted, this.first + KERNEL_INPUT)
      input.copyTo(this.bytes, this.last - this.first, from, input.pos + to - offset)
      this.last = to
    }
    return this.address + offset - this.first
  }
}
