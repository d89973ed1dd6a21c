import { m, type Mixer } from './best/mixer.js'
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

  readonly #mixer: Mixer | undefined

  /** @param mixer of the best level */
  constructor(coder: Coder, mixer?: Mixer) {
    this.#coder = coder
    this.#mixer = mixer
    this.#a = coder.table(14)
    this.#b = coder.table(12)
    this.#c = coder.table(1)
    this.#n = coder.table(2)
  }

  next(): Thread {
    const coder = this.#coder
    const count = this.#all.length
    if (count === 0) return this.#make()
    if (count === 1) return coder.one(this.#c.at(0)) === 1 ? this.#all[0] : this.#make()
    const current = this.#current
    const t = this.#all[current]
    const s1 = t.s[0]
    const same = this.#isSame(t)
    this.#switches = ((this.#switches << 1) | (same === 1 ? 0 : 1)) >>> 0
    if (same === 1) return t
    const place = mix(current, s1) >>> 20
    const expected = this.#f[place]
    const guess = expected >= count || expected === current ? this.#previous : expected
    let chosen = -1
    if (guess !== current) {
      if (this.#isGuess(t, guess)) chosen = guess
    }
    if (chosen < 0 && guess !== this.#previous && current !== this.#previous) {
      const y = this.#mixer === undefined ? coder.one(this.#c.at(1)) : this.#mixed(this.#mixer, t, this.#previous, 1)
      if (y === 1) chosen = this.#previous
    }
    if (chosen < 0) {
      const number = Number(this.#mixer?.number(11, [current, this.#previous, s1], 10) ?? coder.number(0, current & 31))
      if (number > count) throw new Error('no such thread')
      chosen = number === 0 ? count : number - 1
    }
    this.#f[place] = chosen
    if (chosen === count) return this.#make()
    this.#previous = current
    this.#current = chosen
    return this.#all[chosen]
  }

  #trust(t: Thread): number {
    return 2 * (t.match === 0 ? 0 : t.matched < 4 ? 1 : t.matched < 16 ? 2 : 3) + t.isSwitch
  }

  #isSame(t: Thread): number {
    const current = this.#current
    const s1 = t.s[0]
    const l = this.#trust(t)
    const w = this.#switches
    if (this.#mixer === undefined) {
      const isSwitch = t.match === 0 ? 2 : t.isSwitch
      const a = this.#a.of(mix(current * 77 + 1, s1 | (isSwitch << 16)))
      return this.#coder.pair(a, this.#b.at(l * 256 + (w & 255)), 0)
    }
    return this.#mixer.mixed(l, [
      mix(1, w & 255),
      m(2, current, s1),
      m(3, current, t.h2),
      m(4, current, w & 0xffff),
      m(5, current, Math.min(t.frees, 20)),
      m(6, l, w & 15),
      m(7, current, t.h4),
    ])
  }

  #isGuess(t: Thread, guess: number): boolean {
    if (this.#mixer !== undefined) return this.#mixed(this.#mixer, t, guess, 0) === 1
    const b = (guess === this.#previous ? 9 : 8) * 256 + (this.#switches & 255)
    return this.#coder.pair(this.#a.of(mix(this.#current, (guess << 8) + 5)), this.#b.at(b), 1) === 1
  }

  #mixed(mixer: Mixer, t: Thread, g: number, k: number): number {
    const w = this.#switches
    return mixer.mixed(8 + k, [
      mix(8, k),
      m(9, this.#current, g),
      m(10, t.s[0], g),
      mix(11 + k, w & 255),
      m(13, t.h2, g),
      m(14 + k, this.#trust(t), w & 7),
    ])
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
