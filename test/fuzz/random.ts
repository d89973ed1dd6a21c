/** Random numbers that depend on a seed alone (sfc32), so that every input can be made again. */
export class Random {
  private a = 0
  private b = 0
  private c = 0
  private d = 0

  /** Begins again: the same numbers follow for the same words. */
  seed(...words: readonly number[]): void {
    this.a = 0x9e37_79b9
    this.b = 0x243f_6a88
    this.c = 0xb7e1_5162
    this.d = 1
    for (const word of words) {
      this.a ^= word | 0
      this.c = (this.c + Math.floor(word / 2 ** 32)) | 0
      for (let i = 0; i < 12; i++) this.u32()
    }
  }

  /** From 0 to 2^32 - 1. */
  u32(): number {
    const sum = (((this.a + this.b) | 0) + this.d) | 0
    this.d = (this.d + 1) | 0
    this.a = this.b ^ (this.b >>> 9)
    this.b = (this.c + (this.c << 3)) | 0
    this.c = ((this.c << 21) | (this.c >>> 11)) + sum
    this.c |= 0
    return sum >>> 0
  }

  /** From 0 to `n` - 1. */
  below(n: number): number {
    return Math.floor((this.u32() / 2 ** 32) * n)
  }

  /** True one time in `n`. */
  oneIn(n: number): boolean {
    return this.below(n) === 0
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]
  }

  /** A length: mostly small, at times up to `most`. */
  length(most: number): number {
    return this.below(1 + this.below(1 + this.below(most + 1)))
  }

  /** 64 bits: an edge of words and doubles, a small number, or any. */
  u64(): bigint {
    switch (this.below(4)) {
      case 0:
        return this.pick(EDGES)
      case 1:
        return BigInt(this.below(4096))
      case 2:
        return BigInt(this.u32())
      default:
        return (BigInt(this.u32()) << 32n) | BigInt(this.u32())
    }
  }
}

const EDGES = [
  0n,
  1n,
  0x7fn,
  0x80n,
  0xffn,
  0x7fffn,
  0xffffn,
  0x7fff_ffffn,
  0x8000_0000n,
  0xffff_ffffn,
  0x1_0000_0000n,
  (1n << 53n) - 1n,
  1n << 53n,
  (1n << 53n) + 1n,
  (1n << 63n) - 1n,
  1n << 63n,
  (1n << 64n) - 1n,
]

/** A number for a name, to seed with. */
export function hashName(name: string): number {
  let hash = 0x811c_9dc5
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x0100_0193)
  return hash >>> 0
}
