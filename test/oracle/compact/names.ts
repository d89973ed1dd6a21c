import { lengthOf, mix, type Coder } from './coder.js'

/** Names and lists of names. */
export class Names {
  readonly #coder: Coder
  names: Uint8Array[] = []
  lists: number[][] = []
  #places: number[] = []
  #pool: number[] = []
  #inLists = 0
  readonly #l = new Float64Array(1 << 14)
  readonly #p = new Float64Array(1 << 14)
  readonly #a
  readonly #b
  readonly #y
  readonly #z

  constructor(coder: Coder) {
    this.#coder = coder
    this.#a = coder.table(14)
    this.#b = coder.table(14)
    this.#y = coder.table(17)
    this.#z = coder.table(17)
  }

  /** Forgets everything if there is too much of it. */
  limit(): boolean {
    const isFull =
      this.#pool.length > 8_388_608 ||
      this.names.length > 262_144 ||
      this.lists.length > 262_144 ||
      this.#inLists > 2_097_152
    if (!isFull) return false
    this.names = []
    this.lists = []
    this.#places = []
    this.#pool = []
    this.#inLists = 0
    this.#l.fill(0)
    this.#p.fill(0)
    this.#coder.forget(this.#a, 14)
    this.#coder.forget(this.#b, 14)
    this.#coder.forget(this.#y, 17)
    this.#coder.forget(this.#z, 17)
    return true
  }

  /** name(v, sort, context) */
  name(sort: number, context: number): number {
    return this.#known(mix(context, sort), sort, this.names.length, () => this.#newName(sort))
  }

  /** list(v, context) */
  list(context: number): number {
    return this.#known(mix(context, 40), 40, this.lists.length, () => this.#newList())
  }

  #known(x: number, sort: number, count: number, make: () => number): number {
    const coder = this.#coder
    const last = this.#l[x >>> 18]
    if (last > 0 && last <= count && coder.pair(this.#a.of(mix(x, 0)), this.#b.of(mix(last, 0)), 20) === 1) {
      return last - 1
    }
    let value
    if (count > 0 && coder.one(this.#a.of(mix(sort, 1))) === 1) {
      const bits = lengthOf(count)
      value = coder.tree(bits, (node) => coder.pair(this.#a.of(mix(sort + 64, node)), this.#b.of(mix(bits, node)), 21))
      if (value >= count) throw new Error('no such name')
    } else value = make()
    this.#l[x >>> 18] = value + 1
    return value
  }

  #newName(sort: number): number {
    const coder = this.#coder
    const length = Number(coder.pairNumber(mix(sort, 3), 3, 22))
    if (length > 2 ** 24) throw new Error('a name is too long')
    const start = this.#pool.length
    let before = mix(sort, 5) & 0xffff
    let position = this.#places.at(-1) ?? -1
    let matched = 0
    for (let i = 0; i < length; i++) {
      const guess = position >= 0 ? (this.#pool[position] ?? 256) : 256
      const upper = mix(before & 0xffff, 11) >>> 15
      const lower = mix((guess << 4) | Math.min(matched, 15), (before & 0xff) + 13) >>> 15
      const sortOf = guess === 256 ? 23 : matched > 3 ? 25 : 24
      const byte = coder.tree(8, (node) => {
        const spread = node * 0x1f35
        return coder.pair(this.#y.at((upper ^ spread) & 0x1_ffff), this.#z.at((lower ^ spread) & 0x1_ffff), sortOf)
      })
      before = ((before << 8) | byte) & 0xff_ffff
      this.#pool.push(byte)
      const place = mix(before, 9) >>> 18
      if (byte === guess) {
        position++
        matched++
      } else {
        matched = 0
        position = this.#p[place] - 1
        if (position >= this.#pool.length - 1) position = -1
      }
      this.#p[place] = this.#pool.length + 1
    }
    this.#places.push(start)
    this.names.push(new Uint8Array(this.#pool.slice(start)))
    return this.names.length - 1
  }

  #newList(): number {
    const coder = this.#coder
    const length = Number(coder.number(4, 0))
    const before = this.lists.at(-1) ?? []
    const list: number[] = []
    let isSame = true
    let last = 0xffff_ffff
    for (let i = 0; i < length; i++) {
      const there = before[before.length - 1 - i]
      isSame &&= there !== undefined
      if (isSame) isSame = coder.pair(this.#a.of(mix(there as number, 3)), this.#b.of(mix(0, 3)), 26) === 1
      last = isSame ? (there as number) : this.name(41, last)
      list.unshift(last)
    }
    this.lists.push(list)
    this.#inLists += length
    return this.lists.length - 1
  }
}
