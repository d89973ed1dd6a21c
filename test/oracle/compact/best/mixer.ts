import { lengthOf, mix, type Coder, type Table } from '../coder.js'

const ONE = 1n << 32n

/** squash of 0 to 2047. */
const SQUASHED: number[] = []
for (let x = 0, power = ONE; x < 2048; x++, power = (power * 4_278_222_805n) >> 32n) {
  SQUASHED.push(Math.min(65_519, Number((ONE << 16n) / (ONE + power))))
}

const bounded = (x: number) => Math.max(-2047, Math.min(2047, x))

function squash(x: number): number {
  return x < 0 ? 65_536 - SQUASHED[-x] : SQUASHED[x]
}

/** stretch of 0 to 4095. */
const STRETCHED = Array.from({ length: 4096 }, (_, q) => {
  let x = -2047
  while (x < 2047 && squash(x) < 16 * q + 8) x++
  return x
})

/** m(a, b, ...) */
export function m(first: number, ...more: readonly number[]): number {
  return more.reduce(mix, first >>> 0)
}

/** Mixed decisions, and numbers that are made of them. */
export class Mixer {
  readonly #coder: Coder
  readonly #probability = new Int32Array(1 << 20).fill(32_768)
  readonly #n = new Uint8Array(1 << 20)
  readonly #check = new Uint16Array(1 << 20)
  /** By selector and degree. */
  readonly #weights = new Int32Array(1024 * 4 * 8).fill(22_000)
  readonly #r = Int32Array.from({ length: 1024 * 33 }, (_, i) => squash(bounded(((i % 33) - 16) * 128)))
  readonly #long: Table

  constructor(coder: Coder) {
    this.#coder = coder
    this.#long = coder.table(6)
  }

  /** mixed(selector; contexts) */
  mixed(selector: number, contexts: readonly number[]): number {
    let known = 0
    const inputs: number[] = []
    const slots = contexts.map((context) => {
      let h = Math.imul(context, 0x9e37_79b1)
      h = Math.imul(h ^ (h >>> 13), 0xc2b2_ae35) >>> 0
      const slot = h >>> 12
      if (this.#check[slot] !== (h & 1023)) {
        this.#probability[slot] = 32_768
        this.#n[slot] = 0
        this.#check[slot] = h & 1023
      }
      if (this.#n[slot] > 2) known++
      inputs.push(STRETCHED[this.#probability[slot] >> 4])
      return slot
    })
    const weights = (selector * 4 + Math.floor((4 * known) / (slots.length + 1))) * 8
    const sum = inputs.reduce((x, s, i) => x + ((s * this.#weights[weights + i]) >> 8), 0)
    const x = bounded(sum >> 8)
    const p = squash(x)
    const z = (x + 2048) * 32
    const i = z >> 12
    const f = z & 4095
    const at = selector * 33 + i
    const r = (this.#r[at] * (4096 - f) + this.#r[at + 1] * f) >> 12
    const y = this.#coder.decide(Math.max(20, Math.min(65_516, (p + r) >> 1)))

    const goal = y === 1 ? 65_535 : 0
    const error = ((65_536 * y - p) * 12) >> 6
    inputs.forEach((s, j) => {
      const weight = this.#weights[weights + j] + ((s * error + 8192) >> 14)
      this.#weights[weights + j] = Math.max(-1_000_000, Math.min(1_000_000, weight))
    })
    const near = at + (f > 2048 ? 1 : 0)
    this.#r[near]! += Math.trunc((goal - this.#r[near]) / 48)
    for (const slot of slots) {
      const n = this.#n[slot]
      const rate = Math.floor(81_920 / (10 * n + 16))
      this.#probability[slot]! += ((goal - this.#probability[slot]) * rate) >> 13
      this.#n[slot] = Math.min(n + 1, 60)
    }
    return y
  }

  #node(t: number, [a, b, c]: Contexts, selector: number): number {
    return this.mixed(selector, [t, mix(t, a), mix((t ^ 0x1000_0000) >>> 0, b), mix((t ^ 0x2000_0000) >>> 0, c)])
  }

  /** mixedTree(v, bits, id, a, b, c, selector) */
  tree(bits: number, id: number, contexts: Contexts, selector: number): number {
    return this.#coder.tree(bits, (node) => this.#node(mix(id, node), contexts, selector))
  }

  /** mixedNumber(v, id, a, b, c, selector) */
  number(id: number, contexts: Contexts, selector: number): bigint {
    const isLong = this.#coder.one(this.#long.at(id & 63)) === 1
    const length = isLong
      ? Math.min(this.tree(7, id + 64, contexts, selector), 64)
      : this.tree(5, id, contexts, selector)
    if (length === 0) return 0n
    let top = 1n
    for (let i = 0; i < length - 1; i++) {
      const t = mix(id + 1000, ((length << 16) | Number(top & 0xffffn)) >>> 0)
      top = (top << 1n) | (i < 10 ? BigInt(this.#node(t, contexts, selector + 1)) : this.#coder.plain(1))
    }
    return top
  }
}

export type Contexts = readonly [a: number, b: number, c: number]

/** The length in bits of a number of any length. */
export function bitsOf(value: bigint): number {
  return value === 0n ? 0 : value >> 32n === 0n ? lengthOf(Number(value)) : 32 + lengthOf(Number(value >> 32n))
}
