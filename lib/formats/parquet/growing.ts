export class GrowingBytes {
  bytes = new Uint8Array(0)
  length = 0

  /** Makes room for more bytes. @returns their position */
  extend(count: number): number {
    const at = this.length
    this.length += count
    if (this.length > this.bytes.length) {
      const bigger = new Uint8Array(Math.max(2 * this.bytes.length, this.length, 1024))
      bigger.set(this.bytes.subarray(0, at))
      this.bytes = bigger
    }
    return at
  }

  /** The written part, in place. */
  get used(): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(0, this.length)
  }
}

/** Words of 32 bits that grow. */
export class GrowingWords {
  words = new Uint32Array(0)
  length = 0

  /** Makes room for more words. @returns their position */
  extend(count: number): number {
    const at = this.length
    this.length += count
    if (this.length > this.words.length) {
      const bigger = new Uint32Array(Math.max(2 * this.words.length, this.length, 256))
      bigger.set(this.words.subarray(0, at))
      this.words = bigger
    }
    return at
  }

  /** The written part, in place. */
  get used(): Uint32Array<ArrayBuffer> {
    return this.words.subarray(0, this.length)
  }
}
