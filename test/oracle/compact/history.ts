import { mix } from './coder.js'

/** What is kept of a thread. */
export interface Thread {
  readonly number: number
  readonly thread: bigint | undefined
  readonly process: bigint | undefined
  /** s1 to s6. */
  s: number[]
  h2: number
  h3: number
  h6: number
  match: number
  matched: number
  misses: number
  last: number
  isSwitch: number
  freed: number
  address: bigint
  cpu: number
  /** For the best level, from here on. */
  h4: number
  h5: number
  frees: number
  winners: number
  wrong: number
  step: number
  stepBefore: number
  /** Of the block that it ended last: the number that made it, its class, and records. */
  freedMade: number
  freedClass: number
  freedYounger: number | undefined
  freedOlder: number | undefined
  freedSiteYounger: number | undefined
}

/** A new thread's state. */
export function newThread(number: number, thread: bigint | undefined, process: bigint | undefined): Thread {
  return {
    number,
    thread,
    process,
    s: [0, 0, 0, 0, 0, 0],
    h2: 0,
    h3: 0,
    h6: 0,
    match: 0,
    matched: 0,
    misses: 0,
    last: 0,
    isSwitch: 0,
    freed: 0,
    address: 0n,
    cpu: 0,
    h4: 0,
    h5: 0,
    frees: 0,
    winners: 0,
    wrong: 0,
    step: 0,
    stepBefore: 0,
    freedMade: 0,
    freedClass: 0,
    freedYounger: undefined,
    freedOlder: undefined,
    freedSiteYounger: undefined,
  }
}

/** The last 65,536 numbers; at the best level, 131,072. */
export class History {
  sequence = 0
  readonly symbol: Uint32Array
  readonly free: Uint32Array
  readonly age: Float64Array
  readonly born: Float64Array
  readonly #hash: Uint32Array
  readonly #next: Float64Array
  readonly #seen: Float64Array
  readonly #size: number

  constructor(readonly isBest: boolean) {
    const size = isBest ? 131_072 : 65_536
    this.#size = size
    this.symbol = new Uint32Array(size)
    this.free = new Uint32Array(size)
    this.age = new Float64Array(size)
    this.born = new Float64Array(size)
    this.#hash = new Uint32Array(size)
    this.#next = new Float64Array(size)
    this.#seen = new Float64Array(size)
  }

  /** Where what is kept of a number is. */
  at(number: number): number {
    return number & (this.#size - 1)
  }

  take(): void {
    this.sequence++
    this.born[this.at(this.sequence)] = 0
  }

  isKept(number: number): boolean {
    return number !== 0 && this.sequence - number < this.#size - 8
  }

  note(t: Thread, symbol: number, free: number, age: number): void {
    const { sequence } = this
    const now = this.at(sequence)
    if (t.last !== 0 && sequence - t.last < this.#size) this.#next[this.at(t.last)] = sequence
    t.last = sequence
    this.#next[now] = 0
    this.symbol[now] = symbol
    this.free[now] = free
    this.age[now] = age
    t.s = [(symbol + free * 2 ** 17) >>> 0, ...t.s.slice(0, 5)]
    const [s1, s2, s3, s4, s5, s6] = t.s as [number, number, number, number, number, number]
    t.h2 = mix(s1, s2)
    t.h3 = mix(t.h2, s3)
    if (this.isBest) {
      t.frees = (symbol & 1) === 1 ? t.frees + 1 : 0
      t.h4 = mix(t.h3, s4)
      t.h5 = mix(t.h4, s5)
      t.h6 = mix(t.h5, s6)
    } else t.h6 = mix(mix(t.h3, s4), Math.imul(s5, 0x2f0b_4c47) + s6)
    if (t.match !== 0) {
      if (sequence - t.match >= this.#size - 8) t.match = 0
      else {
        const at = this.at(t.match)
        const same = this.symbol[at] === symbol && this.free[at] === free
        const right = same && this.age[at] === age
        this.#follow(t, t.match)
        t.misses = ((t.misses << 1) | (right ? 0 : 1)) >>> 0
        if (same) t.matched++
        else {
          t.matched = 0
          if ((t.misses & 0xff) === 0xff) t.match = 0
        }
      }
    }
    this.#hash[now] = t.h6
    const slot = t.h6 >>> (this.isBest ? 15 : 16)
    if (t.match === 0 || t.matched === 0) {
      const before = this.#seen[slot]
      if (before !== 0 && sequence - before < this.#size - 64 && this.#hash[this.at(before)] === t.h6) {
        this.#follow(t, before)
        t.matched = 1
      }
    }
    if (t.matched < 32 || sequence % 4 === 0) this.#seen[slot] = sequence
  }

  #follow(t: Thread, number: number): void {
    const next = this.#next[this.at(number)]
    t.isSwitch = next === number + 1 ? 0 : 1
    t.match = next
  }
}
