import type { Block } from './classes.js'
import { mix, type Coder } from './coder.js'
import type { Thread } from './history.js'

interface Cache {
  last: bigint
  step: bigint
  freed: bigint[]
  winners: number
}

const u64 = (value: bigint) => BigInt.asUintN(64, value)

/** The class of a size. */
export function sizeClass(size: bigint): number {
  if (size <= 1024n) return Number((size + 15n) / 16n)
  const l = size.toString(2).length - 1
  return 64 + 8 * l + Number((size >> BigInt(l - 3)) & 7n)
}

/** Where blocks are. */
export class Addresses {
  readonly #coder: Coder
  readonly #a
  readonly #b
  readonly #caches: Cache[] = Array.from({ length: 1 << 12 }, () => ({ last: 0n, step: 0n, freed: [], winners: 0 }))
  #end = 0n

  constructor(coder: Coder) {
    this.#coder = coder
    this.#a = coder.table(14)
    this.#b = coder.table(14)
  }

  /** difference(from, s) */
  difference(from: bigint, s: number): bigint {
    const is = this.#coder.pair(this.#a.at(s), this.#b.at(Number(from & 15n)), 38)
    const distance = this.#coder.difference(100 + s, 200 + is, 40)
    return u64(from + (is === 1 ? distance * 16n : distance))
  }

  /** Whether a realloc stays in place. */
  stays(old: Block, size: bigint): boolean {
    const x = mix(sizeClass(old.size), sizeClass(size))
    return this.#coder.pair(this.#a.of(mix(x, 7)), this.#b.of(mix(size > old.size ? 1 : 0, 8)), 39) === 1
  }

  #cache(t: Thread, size: bigint): Cache {
    return this.#caches[mix(t.number, sizeClass(size)) >>> 20]
  }

  /** The address of a new block. */
  guess(t: Thread, size: bigint): bigint {
    const cache = this.#cache(t, size)
    const { freed, winners } = cache
    const guesses = [
      freed.at(-1) ?? 0n,
      cache.last === 0n ? 0n : u64(cache.last + cache.step),
      this.#end,
      freed.at(-2) ?? 0n,
    ]
    const first = Math.min(winners & 7, 3)
    const order = [first, ...[0, 1, 2, 3].filter((g) => g !== first)]
    let before = 0n
    let address: bigint | undefined
    for (const [i, g] of order.entries()) {
      const guess = guesses[g]
      if (guess === 0n || guess === before) continue
      before = guess
      const a = this.#a.of(mix((g << 3) | i, winners & 0x1ff))
      const b = this.#b.of(mix(sizeClass(size), (g << 4) | Math.min(freed.length, 15)))
      if (this.#coder.pair(a, b, 34 + g) === 0) continue
      address = guess
      cache.winners = ((winners << 3) | g) >>> 0
      break
    }
    if (address === undefined) {
      cache.winners = ((winners << 3) | 4) >>> 0
      address = this.difference(cache.last === 0n ? this.#end : cache.last, 2)
    }
    const place = freed.indexOf(address)
    if (place >= 0) freed.splice(place, 1)
    else {
      const span = u64(size + 23n) & ~15n
      this.#end = u64(address + (span > 32n ? span : 32n))
    }
    cache.step = u64(address - cache.last)
    cache.last = address
    return address
  }

  /** A block was freed. */
  freed(t: Thread, { size }: Block, address: bigint): void {
    const { freed } = this.#cache(t, size)
    freed.push(address)
    if (freed.length > 8) freed.shift()
  }
}
