import { mix, type Coder } from './coder.js'
import { newThread, type Thread } from './history.js'

/** The threads, and which one comes next. */
export class Threads {
  readonly #coder: Coder
  #all: Thread[] = []
  #current = 0
  #previous = 0
  #switches = 0
  readonly #a
  readonly #b
  readonly #c
  readonly #n
  readonly #f = new Uint32Array(1 << 12)

  constructor(coder: Coder) {
    this.#coder = coder
    this.#a = coder.table(14)
    this.#b = coder.table(12)
    this.#c = coder.table(1)
    this.#n = coder.table(2)
  }

  next(): Thread {
    const coder = this.#coder
    const count = this.#all.length
    if (count === 0) return this.#make()
    if (count === 1) return coder.one(this.#c.at(0)) === 1 ? (this.#all[0] as Thread) : this.#make()
    const current = this.#current
    const t = this.#all[current] as Thread
    const s1 = t.s[0] as number
    const m = t.match === 0 ? 2 : t.isSwitch
    const l = t.match === 0 ? 0 : t.matched < 4 ? 1 : t.matched < 16 ? 2 : 3
    const same = coder.pair(
      this.#a.of(mix(current * 77 + 1, s1 | (m << 16))),
      this.#b.at((2 * l + t.isSwitch) * 256 + (this.#switches & 255)),
      0,
    )
    this.#switches = ((this.#switches << 1) | (same === 1 ? 0 : 1)) >>> 0
    if (same === 1) return t
    const place = mix(current, s1) >>> 20
    const expected = this.#f[place] as number
    const guess = expected >= count || expected === current ? this.#previous : expected
    let chosen = -1
    if (guess !== current) {
      const b = (guess === this.#previous ? 9 : 8) * 256 + (this.#switches & 255)
      if (coder.pair(this.#a.of(mix(current, (guess << 8) + 5)), this.#b.at(b), 1) === 1) chosen = guess
    }
    if (chosen < 0 && guess !== this.#previous && current !== this.#previous) {
      if (coder.one(this.#c.at(1)) === 1) chosen = this.#previous
    }
    if (chosen < 0) {
      const number = Number(coder.number(0, current & 31))
      if (number > count) throw new Error('no such thread')
      chosen = number === 0 ? count : number - 1
    }
    this.#f[place] = chosen
    if (chosen === count) return this.#make()
    this.#previous = current
    this.#current = chosen
    return this.#all[chosen] as Thread
  }

  #make(): Thread {
    const coder = this.#coder
    if (this.#all.length === 65_536) {
      this.#all = []
      this.#current = 0
      this.#previous = 0
      this.#switches = 0
    }
    const thread = coder.one(this.#n.at(0)) === 1 ? coder.number(1, 0) : undefined
    const process = coder.one(this.#n.at(1)) === 1 ? coder.number(1, 1) : undefined
    const made = newThread(this.#all.length, thread, process)
    this.#previous = this.#current
    this.#current = this.#all.length
    this.#all.push(made)
    return made
  }
}
