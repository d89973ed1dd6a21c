import { lengthOf, mix, type Coder } from './coder.js'
import type { Thread } from './history.js'

/** A live block. */
export interface Block {
  /** Its birth number. */
  readonly birth: number
  /** The number that made it. */
  readonly made: number
  readonly class: number
  readonly key: bigint
  readonly size: bigint
  readonly index: bigint
  /** Its number in the simulation; 0 if that does not know it. */
  readonly handle: number
  /** For the best level: the site. */
  readonly site: number
  /** The number of its record. */
  readonly record: number
  position: number
}

/** A block that begins. */
export type NewBlock = Omit<Block, 'birth' | 'position' | 'record'>

/** The live blocks. */
export interface LiveBlocks {
  readonly births: number
  readonly records: Records
  add(block: NewBlock): Block
  end(block: Block): void
}

/** The records of blocks. */
export class Records {
  /** The live block of each. */
  readonly blocks: (Block | undefined)[] = []
  /** Those without one, the last one first. */
  readonly #free: number[] = []

  /** The record of the next block. */
  next(): number {
    return this.#free.pop() ?? this.blocks.length
  }

  end({ record }: Block): void {
    this.blocks[record] = undefined
    this.#free.push(record)
  }
}

/** The blocks of a class. */
interface Class {
  blocks: (Block | undefined)[]
  begin: number
  end: number
  live: number
  room: number
  cursor: number
  step: number
  winners: number
  distance: number
}

/** The live blocks: by address, by birth and by class. */
export class Classes implements LiveBlocks {
  readonly #coder: Coder
  readonly #byKey = new Map<bigint, Block>()
  readonly #byBirth: (Block | undefined)[] = Array.from({ length: 65_536 })
  readonly #classes = new Map<number, Class>()
  readonly #a
  readonly #b
  readonly #d
  readonly #v = new Uint8Array(1 << 16).fill(1)
  births = 0
  readonly records = new Records()
  #newest = 0

  constructor(coder: Coder) {
    this.#coder = coder
    this.#a = coder.table(14)
    this.#b = coder.table(14)
    this.#d = coder.table(1)
  }

  class(number: number): Class {
    let it = this.#classes.get(number)
    if (it === undefined) {
      it = { blocks: [], begin: 0, end: 0, live: 0, room: 0, cursor: 0, step: 0, winners: 0, distance: 0 }
      this.#classes.set(number, it)
    }
    return it
  }

  /** The live block of a birth number that is not too long ago. */
  ofBirth(birth: number): Block | undefined {
    const block = this.#byBirth[birth & 0xffff]
    return birth !== 0 && block?.birth === birth ? block : undefined
  }

  newest(): Block | undefined {
    return this.#byBirth[this.#newest & 0xffff]
  }

  younger(birth: number): Block | undefined {
    for (let i = birth + 1; i <= Math.min(birth + 8, this.births); i++) {
      const block = this.#byBirth[i & 0xffff]
      if (block !== undefined) return block
    }
    return undefined
  }

  older(birth: number): Block | undefined {
    for (let i = birth - 1; i >= Math.max(birth - 8, 1); i--) {
      const block = this.#byBirth[i & 0xffff]
      if (block !== undefined) return block
    }
    return undefined
  }

  /** The only block of a class, if it has one. */
  only(number: number): Block | undefined {
    const it = this.class(number)
    return it.live === 1 ? it.blocks[it.begin] : undefined
  }

  /** The block of a class that ends. */
  choose(number: number, t: Thread, expected: Block | undefined): Block {
    const coder = this.#coder
    const it = this.class(number)
    if (it.live === 0) throw new Error('a class without blocks')
    if (it.live === 1) return it.blocks[it.begin] as Block
    const find = (from: number, to: number, step: number) => {
      for (let i = from; i !== to; i += step) if (it.blocks[i] !== undefined) return it.blocks[i]
      return undefined
    }
    const { cursor } = it
    const younger = t.freed === 0 ? undefined : this.younger(t.freed)
    const candidates = [
      expected?.class === number ? expected : undefined,
      it.blocks[it.end - 1],
      find(cursor, cursor + 16, 1),
      find(cursor - 1, cursor - 17, -1),
      it.blocks[it.begin],
      it.blocks[cursor + it.step],
      younger?.class === number ? younger : undefined,
    ]
    const v = mix(t.h2, number) >>> 16
    const tried = new Set<Block>()
    let chosen: Block | undefined
    let winner = 7
    for (const x of [this.#v[v] & 7, 0, it.winners & 7, 1, 2, 3, 5, 6, 4]) {
      const block = candidates[x]
      if (block === undefined || tried.has(block) || tried.size === 4) continue
      const mask = candidates.reduce((bits, other, i) => bits | (other === block ? 1 << i : 0), 0)
      const k = tried.size
      const a = mix((mask * 8 + x) * 8 + (it.winners & 7), ((it.winners >>> 3) & 7) * 4 + k)
      if (coder.pair(this.#a.of(a), this.#b.of(mix(mix(t.h3, number << 3), x)), 10 + k) === 1) {
        chosen = block
        winner = x
        break
      }
      tried.add(block)
    }
    if (chosen === undefined) {
      let up = 1
      if (cursor > it.begin) up = cursor >= it.end ? 0 : coder.one(this.#d.at(it.distance & 1))
      const n = Number(coder.number(2 + up, (it.distance >>> 1) & 31))
      it.distance = (lengthOf(n | 1) << 1) | up
      chosen = it.blocks[up === 1 ? cursor + n : cursor - 1 - n]
      if (chosen === undefined) throw new Error('a position without a block')
    }
    this.#v[v] = winner
    it.winners = ((it.winners << 3) | winner) >>> 0
    it.step = chosen.position - cursor
    return chosen
  }

  /** A block of a class was chosen by a whole event. */
  chosen(block: Block): void {
    const it = this.class(block.class)
    if (it.live <= 1) return
    it.winners = (it.winners << 3) >>> 0
    it.step = block.position - it.cursor
  }

  add(block: NewBlock): Block {
    const before = this.#byKey.get(block.key)
    if (before !== undefined) this.end(before)
    const it = this.class(block.class)
    if (it.end === it.room) {
      let isEnough = false
      if (4 * it.live < 3 * it.end) {
        squeeze(it)
        isEnough = 4 * it.end < 3 * it.room
      }
      if (!isEnough) it.room = Math.max(16, 2 * it.room)
    }
    const added = { ...block, birth: ++this.births, position: it.end, record: this.records.next() }
    this.records.blocks[added.record] = added
    it.blocks[it.end++] = added
    it.live++
    this.#byBirth[added.birth & 0xffff] = added
    this.#newest = added.birth
    this.#byKey.set(block.key, added)
    return added
  }

  end(block: Block): void {
    this.#byKey.delete(block.key)
    this.records.end(block)
    if (this.#byBirth[block.birth & 0xffff] === block) this.#byBirth[block.birth & 0xffff] = undefined
    if (this.#newest === block.birth) {
      let back = 1
      while (back < 32 && this.#byBirth[(this.#newest - back) & 0xffff] === undefined) back++
      this.#newest -= back
    }
    const it = this.class(block.class)
    it.blocks[block.position] = undefined
    it.cursor = block.position
    it.live--
    if (it.live === 0) {
      it.begin = it.end = it.cursor = 0
      it.blocks = []
      if (it.room > 64) it.room = 0
      return
    }
    while (it.blocks[it.begin] === undefined) it.begin++
    while (it.blocks[it.end - 1] === undefined) it.end--
    if (it.room > 64 && 8 * it.live < it.room) {
      squeeze(it)
      it.room /= 4
    }
  }
}

/** Removes the holes of an array. */
function squeeze(it: Class): void {
  it.cursor = it.blocks.slice(0, it.cursor).filter((block) => block !== undefined).length
  it.blocks = it.blocks.slice(0, it.end).filter((block) => block !== undefined)
  it.blocks.forEach((block, i) => ((block as Block).position = i))
  it.begin = 0
  it.end = it.live
}
