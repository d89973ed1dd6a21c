import type { Block } from './classes.js'
import { mix, unfold, type Coder } from './coder.js'
import { fieldNumber } from './descriptors.js'
import type { Thread } from './history.js'
import type { Names } from './names.js'

const CPU = fieldNumber('cpu')
const SEQUENCE = fieldNumber('sequence')
const TIME = fieldNumber('time')
const END_TIME = fieldNumber('endTime')
const INDEX = fieldNumber('index')
const PRESENT = fieldNumber('present')
const NAMES = ['text', 'attributes', 'fields'].map(fieldNumber)

const u64 = (value: bigint) => BigInt.asUintN(64, value)

/** The fields that each event has for itself. */
export class OtherFields {
  readonly #coder: Coder
  readonly #names: Names
  readonly #a
  readonly #b
  readonly #s
  #cpu = 0
  #sequence = 0
  #time = 0n
  #endTime = 0n
  #span = 0
  #index = 0n
  #present = 0n

  constructor(coder: Coder, names: Names) {
    this.#coder = coder
    this.#names = names
    this.#a = coder.table(14)
    this.#b = coder.table(14)
    this.#s = coder.table(2)
  }

  /** Puts the fields of an event into its values. */
  read(values: Map<number, bigint>, mask: number, n: number, t: Thread, ending: Block | undefined): void {
    const has = (f: number) => ((mask >>> f) & 1) === 1
    if (has(CPU)) {
      const last = this.#cpu
      if (this.#expected(CPU, t.cpu)) this.#cpu = t.cpu
      else if (!this.#expected(CPU, 4096 + last)) this.#cpu = Number(BigInt.asIntN(32, this.#near(0n, CPU, last)))
      t.cpu = this.#cpu
      values.set(CPU, BigInt.asUintN(32, BigInt(this.#cpu)))
    }
    if (has(SEQUENCE)) {
      this.#sequence = (this.#sequence + 1) | 0
      if (!this.#expected(SEQUENCE, 0)) {
        const difference = Number(BigInt.asIntN(32, this.#near(0n, SEQUENCE, n)))
        this.#sequence = (this.#sequence + difference) | 0
      }
      values.set(SEQUENCE, BigInt.asUintN(32, BigInt(this.#sequence)))
    }
    if (has(TIME)) {
      this.#time = u64(this.#time + this.#difference(0, n, t.h2).value)
      values.set(TIME, this.#time)
    }
    if (has(END_TIME)) {
      const { value, length } = this.#difference(1, n, this.#span)
      this.#endTime = u64((has(TIME) ? this.#time : this.#endTime) + value)
      this.#span = length
      values.set(END_TIME, this.#endTime)
    }
    if (has(INDEX)) {
      let index = ending === undefined ? u64(this.#index + 1n) : ending.index
      if (!this.#expected(INDEX, n)) index = u64(this.#near(this.#index, INDEX, n))
      if (ending === undefined) this.#index = index
      values.set(INDEX, index)
    }
    if (has(PRESENT)) {
      if (!this.#expected(PRESENT, n)) this.#present = u64(this.#near(this.#present, PRESENT, n))
      values.set(PRESENT, this.#present)
    }
    for (const f of NAMES) if (has(f)) values.set(f, BigInt(this.#names.name(f, n)))
  }

  #expected(f: number, c: number): boolean {
    return this.#coder.pair(this.#a.of(mix(c, f)), this.#b.of(mix(f, 1)), 42) === 1
  }

  #near(from: bigint, f: number, c: number): bigint {
    return from + unfold(this.#coder.pairNumber(f + 300, mix(c, f), 44))
  }

  /** span(s): the difference, and its length in bits. */
  #difference(s: number, n: number, c: number): { value: bigint; length: number } {
    const coder = this.#coder
    let unit = 1n
    if (coder.one(this.#s.at(2 * s)) === 1) unit = coder.one(this.#s.at(2 * s + 1)) === 1 ? 1_000_000n : 1000n
    const context = (unit === 1n ? 400 : 402) + s
    const value = unfold(coder.pairNumber(context, mix(n, c & 0xffff), 46 + 4 * s)) * unit
    const bits = u64(value)
    return { value, length: bits === 0n ? 0 : bits.toString(2).length }
  }
}
