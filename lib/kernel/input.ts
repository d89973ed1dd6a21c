import type { Input } from '../bytes/input.js'
import type { KernelExports } from './load.js'

/** How many bytes of input a kernel's memory has room for. */
export const KERNEL_INPUT = 262_144

/**
 * The part of an input that lies in a kernel's memory. Decoders of one format share a kernel, and take turns.
 */
export class KernelInput {
  private readonly bytes: Uint8Array
  private readonly address: number
  private owner: Input | null = null
  /** Offsets in the owner's stream of the first byte that lies here and of the one behind the last. */
  private first = 0
  private last = 0

  constructor(exports: KernelExports) {
    this.address = exports.INPUT?.value ?? 0
    this.bytes = new Uint8Array(exports.memory.buffer, this.address, KERNEL_INPUT)
  }

  /** One behind the last byte that lies here, as an address. */
  get end(): number {
    return this.address + this.last - this.first
  }

  /**
   * Makes sure that the unread bytes of an input, or the first `least` of them, lie here.
   * @param end one past the last byte that is wanted, as an index like `input.pos`
   * @param least so many that there is something to do with them
   * @returns the address of the first one
   */
  load(input: Input, end = input.end, least = KERNEL_INPUT / 4): number {
    const { offset } = input
    const wanted = offset + end - input.pos
    const here = this.owner === input && offset >= this.first && offset <= this.last && this.last <= wanted
    if (!here || this.last - offset < Math.min(wanted - offset, least)) {
      // What is here already stays, if there is room behind it: a record that comes in tiny pieces is not copied again
      // for each of them.
      if (!here || wanted - this.first > KERNEL_INPUT) {
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
