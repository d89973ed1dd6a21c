import type { Block } from '../classes.js'
import { lengthOf, mix, type Coder } from '../coder.js'
import type { Descriptors } from '../descriptors.js'
import { Frees } from '../frees.js'
import type { History, Thread } from '../history.js'
import { Slots, type Chosen, type Place } from '../symbols.js'
import type { BestBlocks } from './blocks.js'
import { m, type Mixer } from './mixer.js'
import { Targets } from './targets.js'

/** Which symbol comes next, at the best level. */
export class BestSymbols {
  readonly #mixer: Mixer
  readonly #history: History
  readonly #blocks: BestBlocks
  readonly #descriptors: Descriptors
  readonly #targets
  readonly #frees
  readonly #slots = [0, 1, 2, 3].map(() => new Slots(16))

  constructor(coder: Coder, mixer: Mixer, history: History, blocks: BestBlocks, descriptors: Descriptors) {
    this.#mixer = mixer
    this.#history = history
    this.#blocks = blocks
    this.#descriptors = descriptors
    this.#targets = new Targets(mixer, history, blocks)
    this.#frees = new Frees(coder, descriptors)
  }

  next(t: Thread, { known, isSecond }: Place): Chosen {
    const history = this.#history
    const at = history.at(t.match)
    const hasMatch = history.isKept(t.match)
    const e = hasMatch ? history.symbol[at] : 1
    const free = hasMatch ? history.free[at] : 0
    let expected: Block | undefined
    if (hasMatch) {
      const age = history.age[at]
      const number = history.sequence - age
      if (age !== 0 && history.isKept(number)) expected = this.#blocks.madeBy(number)
    }
    const isSure = hasMatch && t.matched >= 8
    const block = (isRefused: boolean, isAsked: boolean): Chosen => {
      const found = this.#targets.choose(t, { expected, isRefused, isAsked, isRealloc: isSecond })
      const symbol = found.class * 2 + 1
      return { symbol, block: found, free: isSecond ? 0 : known || this.#frees.next(found.class, t) }
    }
    if (known !== 0 || isSecond) return block(false, isSure)
    const trust = hasMatch ? trustOf(t.matched) : 0

    let wasDecided = 0
    if (isSure && ((e & 1) === 0 || (expected?.class === e >> 1 && free !== 0))) {
      wasDecided = 1
      if (this.#isWhole(t, e, expected) === 1) {
        if ((e & 1) === 1) return { symbol: e, block: expected, free }
        this.learn(t, e)
        return { symbol: e, block: undefined, free: 0 }
      }
    }
    const f = hasMatch ? (e & 1) + 1 + 2 * wasDecided : 0
    if (this.#blocks.class(0).blocks.length > 0 && this.#isFree(t, f, trust) === 1)
      return block(wasDecided === 1 && (e & 1) === 1 && this.#descriptors.ends === 1, false)
    return { symbol: this.#described(t, e, trust, wasDecided), block: undefined, free: 0 }
  }

  #isWhole(t: Thread, e: number, expected: Block | undefined): number {
    const n = Math.min(t.matched, 400)
    const odd = e & 1
    const site = odd === 1 ? (expected as Block).site : 0
    const l = n < 16 ? 0 : n < 32 ? 1 : n < 400 ? 2 : 3
    return this.#mixer.mixed(16 + 4 * odd + l, [
      mix(20 + odd, n),
      m(22, e, t.h2),
      mix(24 + odd, t.misses & 0xffff),
      m(26, e, t.h5),
      m(27, (site + e) >>> 0, t.h4),
      m(28, (site + e) >>> 0, t.misses & 15),
    ])
  }

  #isFree(t: Thread, f: number, trust: number): number {
    const [s1] = t.s as [number]
    return this.#mixer.mixed(32 + 4 * f + (trust >= 8 ? 2 : trust >= 3 ? 1 : 0), [
      mix(30, s1),
      mix(31, t.h2),
      mix(32, t.h3),
      mix(33, t.h4),
      mix(34, t.h6),
      m(35, 16 * f + trust, t.winners & 31),
      m(36, (this.#blocks.class(0).newest as Block).site, s1),
      m(37, Math.min(t.frees, 40), t.winners & 1023),
    ])
  }

  #places(t: Thread): number[] {
    return [t.h5, t.h3, t.h2, t.s[0]].map((hash, i) => this.#slots[i].find(mix(hash, 40 + i)))
  }

  #learn(places: readonly number[], symbol: number): void {
    places.forEach((at, i) => this.#slots[i].learn(at, symbol))
  }

  /** The slots learn a symbol. */
  learn(t: Thread, symbol: number): void {
    this.#learn(this.#places(t), symbol)
  }

  /** The symbol of a descriptor, or 0 if a new one follows. */
  #described(t: Thread, e: number, trust: number, wasDecided: number): number {
    const mixer = this.#mixer
    const [s1, s2] = t.s as [number, number]
    const places = this.#places(t)
    const masks = new Map<number, number>()
    const propose = (source: number, symbol: number) => masks.set(symbol, (masks.get(symbol) ?? 0) | (1 << source))
    if ((e & 1) === 0) propose(0, e)
    places.forEach((at, i) => {
      const slots = this.#slots[i]
      if (slots.count(at) > 0) propose(1 + 2 * i, slots.symbol(at))
      if (slots.count(at + 1) > 0) propose(2 + 2 * i, slots.symbol(at + 1))
    })
    const [first, second] = places.map((at, i) => this.#slots[i].count(at)) as [number, number]
    const n = 16 * first + second
    for (const [i, [c, q]] of [...masks].slice(0, 6).entries()) {
      if (c === e && wasDecided === 1) continue
      const j = Math.min(i, 3)
      const is = mixer.mixed(96 + 4 * j + (i === 0 ? Math.min(trust, 3) : 0), [
        m(50, q, i),
        m(51, s1, c),
        m(52, t.h2, c),
        m(53, t.h4, c),
        m(54, t.h6, c),
        m(55, c, j),
        m(56, 8 * trust + i, (q & 1) | (n << 1)),
      ])
      if (is === 0) continue
      this.#learn(places, c)
      return c
    }
    const b = lengthOf(this.#descriptors.count)
    if (mixer.mixed(64, [60, mix(61, s1), mix(62, t.h2), mix(63, b)]) === 0) return 0
    const symbol = 2 * mixer.tree(b, 64, [s1, t.h2, s2], 65)
    this.#learn(places, symbol)
    return symbol
  }
}

function trustOf(matched: number): number {
  if (matched < 8) return Math.max(matched, 1)
  return matched < 16 ? 8 : matched < 32 ? 9 : matched < 64 ? 10 : matched < 256 ? 11 : 12
}
