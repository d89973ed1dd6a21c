import { widened } from '../../bytes/widened.js'

/** Bytes, or words of 32 bits, that grow. */
export class Growing<Items extends Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>> {
  length = 0

  /** @param items an array of the type, without items */
  constructor(public items: Items) {}

  /** Makes room for more items. @returns the position of the first */
  extend(count: number): number {
    const at = this.length
    this.length += count
    if (this.length > this.items.length)
      this.items = widened(
        this.items,
        Math.max(2 * this.items.length, this.length, 1024 / this.items.BYTES_PER_ELEMENT),
      )
    return at
  }

  /** The written part, in place. */
  get used(): Items {
    return this.items.subarray(0, this.length) as Items
  }
}
