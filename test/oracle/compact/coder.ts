/** A hash of two numbers of 32 bits, without a sign. */
export function mix(a: number, b: number): number {
  const x = Math.imul(a ^ Math.imul(b, 0x9e37_79b1), 0x85eb_ca6b)
  return (x ^ (x >>> 15)) >>> 0
}

const LEVELS = [0, 1, 4, 13, 40, 124, 369, 980, 2048, 3116, 3727, 3972, 4056, 4083, 4092, 4095]
const LEVEL_OF = Array.from({ length: 4096 }, (_, p) => LEVELS.findLastIndex((start) => start <= p))
const THIRDS = [
  126, 253, 507, 1016, 2033, 4067, 8131, 16_242, 32_378, 64_298, 126_729, 246_164, 465_285, 838_051, 1_397_539,
  2_097_151, 2_796_763, 3_356_251, 3_729_017, 3_948_138, 4_067_573, 4_130_004, 4_161_924, 4_178_060, 4_186_171,
  4_190_235, 4_192_269, 4_193_286, 4_193_795, 4_194_049, 4_194_176,
]

/** A table of counters: each is a number in the coder's arrays. */
export class Table {
  readonly #base: number
  readonly #bits: number

  constructor(base: number, bits: number) {
    this.#base = base
    this.#bits = bits
  }

  /** T(h). */
  of(hash: number): number {
    return this.at(hash >>> (32 - this.#bits))
  }

  /** T[i]. */
  at(index: number): number {
    return this.#base + index
  }
}

/** The number that a folded one stands for. */
export function unfold(folded: bigint): bigint {
  return (folded & 1n) === 1n ? -((folded + 1n) >> 1n) : folded >> 1n
}

/** The bits of a number without leading zeros. */
export function lengthOf(value: number): number {
  return 32 - Math.clz32(value)
}

/** The range coder's reader, all counters, and the numbers that are made of decisions. */
export class Coder {
  readonly #p = new Int32Array(1 << 20).fill(1 << 21)
  readonly #n = new Uint8Array(1 << 20)
  #counters = 0
  readonly #thirds = this.table(14)
  readonly #lengths = this.table(15)
  readonly #tops = this.table(13)
  readonly #a = this.table(16)
  readonly #b = this.table(16)
  #bytes: Uint8Array = new Uint8Array()
  #at = 0
  #range = 0
  #code = 0

  constructor() {
    for (let i = 0; i < 1 << 14; i++) {
      this.#p[this.#thirds.at(i)] = THIRDS[((i >> 4) & 15) + (i & 15)]
    }
  }

  /** A new table of 2^bits counters. */
  table(bits: number): Table {
    const table = new Table(this.#counters, bits)
    this.#counters += 1 << bits
    if (this.#counters > this.#p.length) throw new Error('too many counters')
    return table
  }

  /** Makes the counters of a table new. */
  forget(table: Table, bits: number): void {
    this.#p.fill(1 << 21, table.at(0), table.at(1 << bits))
    this.#n.fill(0, table.at(0), table.at(1 << bits))
  }

  /** Begins a payload. */
  start(bytes: Uint8Array): void {
    this.#bytes = bytes
    this.#at = 0
    this.#range = 2 ** 32 - 1
    this.#code = 0
    for (let i = 0; i < 4; i++) this.#code = this.#code * 256 + this.#next()
  }

  #next(): number {
    if (this.#at >= this.#bytes.length + 4) throw new Error('the payload is damaged')
    return this.#bytes[this.#at++] ?? 0
  }

  /** A decision of this probability. */
  decide(p: number): number {
    const bound = Math.floor((this.#range * p) / 65_536)
    const bit = this.#code < bound ? 1 : 0
    if (bit === 1) this.#range = bound
    else {
      this.#code -= bound
      this.#range -= bound
    }
    while (this.#range < 2 ** 24) {
      this.#range *= 256
      this.#code = this.#code * 256 + this.#next()
    }
    return bit
  }

  #probability(counter: number): number {
    return Math.min(Math.max(this.#p[counter] >> 6, 6), 65_530)
  }

  #updated(counter: number, bit: number): number {
    const p = this.#p[counter]
    const n = this.#n[counter]
    const goal = bit === 1 ? 2 ** 22 - 1 : 0
    return Math.max(p + ((((goal - p) >> 6) * Math.floor(327_680 / (10 * n + 16))) >> 9), 0)
  }

  #seen(counter: number, limit: number): number {
    const n = this.#n[counter]
    return n < limit ? n + 1 : n
  }

  /** A decision by one counter. */
  one(counter: number): number {
    const bit = this.decide(this.#probability(counter))
    this.#p[counter] = this.#updated(counter, bit)
    this.#n[counter] = this.#seen(counter, 60)
    return bit
  }

  /** A decision by two counters. */
  pair(a: number, b: number, sort: number): number {
    const levelA = LEVEL_OF[this.#p[a] >> 10]
    const levelB = LEVEL_OF[this.#p[b] >> 10]
    const third = this.#thirds.at(sort * 256 + levelA * 16 + levelB)
    const bit = this.decide(this.#probability(third))
    const updates = [
      [third, this.#updated(third, bit), this.#seen(third, 250)],
      [a, this.#updated(a, bit), this.#seen(a, 250)],
      [b, this.#updated(b, bit), this.#seen(b, 60)],
    ] as const
    for (const [counter, p, n] of updates) {
      this.#p[counter] = p
      this.#n[counter] = n
    }
    return bit
  }

  /** Plain bits, the highest first. */
  plain(bits: number): bigint {
    let value = 0n
    for (let i = 0; i < bits; i++) value = (value << 1n) | BigInt(this.decide(32_768))
    return value
  }

  /** A tree of some bits, whose decisions are taken at nodes. */
  tree(bits: number, decide: (node: number) => number): number {
    let node = 1
    for (let i = 0; i < bits; i++) node = 2 * node + decide(node)
    return node - 2 ** bits
  }

  /** number(v, group, context) */
  number(group: number, context: number): bigint {
    const lengths = (group * 32 + context) * 32
    const decide = (node: number) => this.one(this.#lengths.at(lengths + node))
    const isLong = decide(0) === 1
    const length = isLong ? Math.min(Number(this.plain(7)), 64) : this.tree(5, decide)
    if (length === 0) return 0n
    if (isLong) return (1n << BigInt(length - 1)) | this.plain(length - 1)
    const upper = Math.min(length - 1, 3)
    const tops = (group * 32 + length) * 8
    const top = (1 << upper) | this.tree(upper, (node) => this.one(this.#tops.at(tops + node)))
    const rest = length - 1 - upper
    return (BigInt(top) << BigInt(rest)) | this.plain(rest)
  }

  /** pairNumber(v, a, b, sort) */
  pairNumber(a: number, b: number, sort: number): bigint {
    const decide = (node: number, sort: number) => this.pair(this.#a.of(mix(a, node)), this.#b.of(mix(b, node)), sort)
    const length = Math.min(
      this.tree(7, (node) => decide(node, sort)),
      64,
    )
    if (length === 0) return 0n
    let value = 1n
    for (let done = 0, i = length - 2; i >= 0; i--, done++) {
      const top = Number(value & 0xffff_ffffn)
      let bit
      if (done < 6) bit = BigInt(decide((length << 8) | top, sort + 1))
      else if (i < 3) bit = BigInt(decide(0x8000 | (length << 8) | (i << 4) | (top & 3), sort + 1))
      else bit = this.plain(1)
      value = (value << 1n) | bit
    }
    return value
  }

  /** A difference of some bits, folded. */
  difference(a: number, b: number, sort: number): bigint {
    return unfold(this.pairNumber(a, b, sort))
  }
}
