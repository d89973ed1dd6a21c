import type { Block, Classes } from './classes.js'
import { lengthOf, mix, type Coder, type Table } from './coder.js'
import type { Descriptors } from './descriptors.js'
import { Frees } from './frees.js'
import type { History, Thread } from './history.js'

/** Slots of two symbols each. */
export class Slots {
  readonly #bits: number
  readonly #isChecked: boolean
  readonly #symbols: Uint32Array
  readonly #counts: Uint8Array
  readonly #checks: Uint16Array

  constructor(bits: number, isChecked = true) {
    this.#bits = bits
    this.#isChecked = isChecked
    this.#symbols = new Uint32Array(2 << bits)
    this.#counts = new Uint8Array(2 << bits)
    this.#checks = new Uint16Array(1 << bits)
  }

  /** The place of a slot. */
  find(hash: number): number {
    if (!this.#isChecked) return (hash & 0xffff) * 2
    const slot = hash >>> (32 - this.#bits)
    if (this.#checks[slot] !== (hash & 0xffff)) {
      this.#checks[slot] = hash & 0xffff
      this.#counts.fill(0, slot * 2, slot * 2 + 2)
    }
    return slot * 2
  }

  symbol(at: number): number {
    return this.#symbols[at]
  }

  count(at: number): number {
    return this.#counts[at]
  }

  learn(at: number, x: number): void {
    const symbols = this.#symbols
    const counts = this.#counts
    const first = counts[at]
    if (symbols[at] === x && first > 0) {
      if (first < 15) counts[at] = first + 1
    } else if (symbols[at + 1] === x && counts[at + 1] > 0) {
      counts[at + 1]!++
      if (counts[at + 1]! >= first) {
        symbols[at + 1] = symbols[at]
        symbols[at] = x
        counts[at] = counts[at + 1]!
        counts[at + 1] = first
      }
    } else if (first === 0) {
      symbols[at] = x
      counts[at] = 1
    } else {
      symbols[at + 1] = x
      counts[at + 1] = 1
      if (first > 1) counts[at] = first >> 1
    }
  }
}

/** A symbol, with what comes with that of a free. */
export interface Chosen {
  readonly symbol: number
  readonly block: Block | undefined
  readonly free: number
}

/** Where a symbol stands: after a new descriptor of a free, which it has then, or second of a realloc. */
export type Place = { readonly known: number; readonly isSecond: boolean }

/** Which symbol comes next. */
export class Symbols {
  readonly #coder: Coder
  readonly #history: History
  readonly #classes: Classes
  readonly #descriptors: Descriptors
  readonly #w
  readonly #x
  readonly #a
  readonly #b
  readonly #r: readonly [Table, Table]
  readonly #i
  readonly #frees
  readonly #four = new Slots(14)
  readonly #two = new Slots(14)
  readonly #one = new Slots(16, false)

  constructor(coder: Coder, history: History, classes: Classes, descriptors: Descriptors) {
    this.#coder = coder
    this.#history = history
    this.#classes = classes
    this.#descriptors = descriptors
    this.#w = coder.table(12)
    this.#x = coder.table(14)
    this.#a = coder.table(14)
    this.#b = coder.table(14)
    this.#r = [coder.table(16), coder.table(16)]
    this.#i = coder.table(1)
    this.#frees = new Frees(coder, descriptors)
  }

  next(t: Thread, { known, isSecond }: Place): Chosen {
    const history = this.#history
    const at = history.at(t.match)
    const hasMatch = history.isKept(t.match)
    const e = hasMatch ? history.symbol[at] : 0
    const free = hasMatch ? history.free[at] : 0
    let expected: Block | undefined
    if ((e & 1) === 1) {
      const number = history.sequence - history.age[at]
      if (number > 0 && history.isKept(number)) {
        expected = this.#classes.ofBirth(history.born[history.at(number)])
      }
    }
    const [s1, , , s4] = t.s as [number, number, number, number]
    // To look at a slot may empty it, so none is looked at before it is needed.
    const look = () =>
      [
        [this.#four, this.#four.find(mix(t.h3, s4))],
        [this.#two, this.#two.find(t.h2)],
        [this.#one, this.#one.find(s1 & 0xffff)],
      ] as const

    let wasDecided = 0
    if (hasMatch && t.matched >= 8 && known === 0) {
      let guess: Block | undefined
      let can = true
      if ((e & 1) === 1) {
        guess = expected?.class === e >> 1 ? expected : this.#classes.only(e >> 1)
        can = guess !== undefined && (free === 0) === isSecond
      }
      if (can) {
        wasDecided = 1
        const l = t.matched < 16 ? 0 : t.matched < 32 ? 1 : t.matched < 400 ? 2 : 3
        const other = (e & 1) === 1 && guess !== expected ? 1 : 0
        const w = (((l << 6) | (t.misses & 63)) << 2) | ((e & 1) << 1) | other
        if (this.#coder.pair(this.#w.at(w), this.#x.of(mix(t.h2, e)), 14 + (e & 1)) === 1) {
          if (t.matched < 24) look().forEach(([slot, at]) => slot.learn(at, e))
          if (guess !== undefined) {
            this.#classes.chosen(guess)
          }
          return { symbol: e, block: guess, free }
        }
      }
    }
    const slots = look()
    const symbol = this.#candidate(t, e, slots, wasDecided) ?? this.#escaped()
    if (symbol > 2) slots.forEach(([slot, at]) => slot.learn(at, symbol))
    if ((symbol & 1) === 0) return { symbol, block: undefined, free: 0 }
    const block = this.#classes.choose(symbol >> 1, t, expected)
    return { symbol, block, free: isSecond ? 0 : known || this.#frees.next(symbol >> 1, t) }
  }

  #candidate(
    t: Thread,
    e: number,
    slots: readonly (readonly [Slots, number])[],
    wasDecided: number,
  ): number | undefined {
    const masks = new Map<number, number>()
    const trusts = new Map<number, number>()
    const propose = (source: number, symbol: number, trust: number) => {
      if (symbol <= 2) return
      if ((symbol & 1) === 1 && this.#classes.class(symbol >> 1).live === 0) return
      masks.set(symbol, (masks.get(symbol) ?? 0) | (1 << source))
      if (!trusts.has(symbol)) trusts.set(symbol, trust)
    }
    const s1 = t.s[0]
    propose(0, e, Math.min(t.matched, 15))
    slots.forEach(([slot, at], i) => slot.count(at) > 0 && propose(1 + i, slot.symbol(at), slot.count(at)))
    slots.forEach(
      ([slot, at], i) => slot.count(at + 1) > 0 && propose(i === 2 ? 5 : 4, slot.symbol(at + 1), slot.count(at + 1)),
    )
    const trust = 12 + (s1 & 1)
    const younger = t.freed === 0 ? undefined : this.#classes.younger(t.freed)
    const newest = this.#classes.newest()
    const older = this.#classes.older(t.freed)
    if (younger !== undefined) propose(6, younger.class * 2 + 1, trust)
    if (newest !== undefined && newest !== younger) propose(7, newest.class * 2 + 1, trust)
    if (older !== undefined) propose(8, older.class * 2 + 1, trust)
    let i = 0
    for (const [c, mask] of masks) {
      if (i === 4) break
      const a = mix((mask << 4) | (trusts.get(c) as number), 8 * i + 2 * wasDecided + (c & 1))
      const b = mix(s1, 4 * c + (i > 0 ? 1 : 0))
      if (this.#coder.pair(this.#a.of(a), this.#b.of(b), 2 + 2 * i + (c & 1)) === 1) return c
      i++
    }
    return undefined
  }

  #escaped(): number {
    const isFree = this.#coder.one(this.#i.at(0))
    const table = this.#r[isFree as 0 | 1]
    const bits = lengthOf(this.#descriptors.count)
    const number = this.#coder.tree(bits, (node) => this.#coder.one(table.at(node & 0xffff)))
    return number * 2 + isFree
  }
}
