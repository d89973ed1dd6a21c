import { loadKernel, type KernelExports } from '../kernel/load.js'

/** The exports of `kernel/xxh64.ts`. */
interface Xxh64Kernel extends KernelExports {
  readonly CAPACITY: { readonly value: number }
  reset(): void
  update(length: number): void
  /** The low word of the hash. */
  digest(): number
}

/** The hash of a frame's content (RFC 8878, section 3.1.1). */
export class Xxh64 {
  private readonly kernel = loadKernel<Xxh64Kernel>('xxh64')
  private readonly input = new Uint8Array(this.kernel.memory.buffer)

  reset(): void {
    this.kernel.reset()
  }

  update(bytes: Uint8Array): void {
    const { INPUT, CAPACITY } = this.kernel
    for (let at = 0; at < bytes.length; at += CAPACITY.value) {
      const part = bytes.subarray(at, at + CAPACITY.value)
      this.input.set(part, INPUT?.value)
      this.kernel.update(part.length)
    }
  }

  /** Whether this is the checksum of the frame that ends here. */
  is(checksum: Uint8Array): boolean {
    return Buffer.from(checksum).readUInt32LE() === this.kernel.digest() >>> 0
  }
}
