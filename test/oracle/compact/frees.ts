import { mix, type Coder } from './coder.js'
import { FORM, type Descriptors } from './descriptors.js'
import type { Thread } from './history.js'

/** The descriptor of a free. */
export class Frees {
  readonly #coder: Coder
  readonly #descriptors: Descriptors
  readonly #a
  readonly #tree
  /** By class. */
  readonly #last = new Map<number, number>()

  constructor(coder: Coder, descriptors: Descriptors) {
    this.#coder = coder
    this.#descriptors = descriptors
    this.#a = coder.table(14)
    this.#tree = coder.table(15)
  }

  /** @param number of the class of the block that ends */
  next(number: number, t: Thread): number {
    const descriptors = this.#descriptors
    const coder = this.#coder
    if (descriptors.ends === 1) return descriptors.firstEnds
    const last = this.#last.get(number) ?? 0
    if (descriptors.all[last]?.form === FORM.ends) {
      const s1 = t.s[0]
      if (coder.pair(this.#a.of(mix(last, s1)), this.#a.of(mix(number, 99)), 32) === 1) return last
    }
    const free = coder.tree(15, (node) => coder.one(this.#tree.at(node)))
    this.#last.set(number, free)
    return free
  }
}
