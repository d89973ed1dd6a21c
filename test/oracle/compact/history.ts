import { mix } from './coder.js'

const RING = 65_535

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
  }
}

/** The last 65,536 numbers. */
export class History {
  sequence = 0
  readonly symbol = new Uint32Array(RING + 1)
  readonly free = new Uint32Array(RING + 1)
  readonly age = new Float64Array(RING + 1)
  readonly born = new Float64Array(RING + 1)
  readonly #hash = new Uint32Array(RING + 1)
  readonly #next = new Float64Array(RING + 1)
  readonly #seen = new Float64Array(1 << 16)

  take(): void {
    this.sequence++
    this.born[this.sequence & RING] = 0
  }

  isKept(number: number): boolean {
    return number !== 0 && this.sequence - number < 65_528
  }

  note(t: Thread, symbol: number, free: number, age: number): void {
    const { sequence } = this
    const now = sequence & RING
    if (t.last !== 0 && sequence - t.last < 65_536) this.#next[t.last & RING] = sequence
    t.last = sequence
    this.#next[now] = 0
    this.symbol[now] = symbol
    this.free[now] = free
    this.age[now] = age
    t.s = [(symbol + free * 2 ** 17) >>> 0, ...t.s.slice(0, 5)]
    const [s1, s2, s3, s4, s5, s6] = t.s as [number, number, number, number, number, number]
    t.h2 = mix(s1, s2)
    t.h3 = mix(t.h2, s3)
    t.h6 = mix(mix(t.h3, s4), Math.imul(s5, 0x2f0b_4c47) + s6)
    if (t.match !== 0) {
      if (sequence - t.match >= 65_528) t.match = 0
      else {
        const at = t.match & RING
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
    const slot = t.h6 >>> 16
    if (t.match === 0 || t.matched === 0) {
      const before = this.#seen[slot] as number
      if (before !== 0 && sequence - before < 65_472 && this.#hash[before & RING] === t.h6) {
        this.#follow(t, before)
        t.matched = 1
      }
    }
    if (t.matched < 32 || sequence % 4 === 0) this.#seen[slot] = sequence
  }

  #follow(t: Thread, number: number): void {
    const next = this.#next[number & RING] as number
    t.isSwitch = next === number + 1 ? 0 : 1
    t.match = next
  }
}
