import type { Block } from '../classes.js'
import { lengthOf, mix, unfold } from '../coder.js'
import type { History, Thread } from '../history.js'
import type { BestBlocks, Row } from './blocks.js'
import { bitsOf, m, type Mixer } from './mixer.js'

/** What the caller knows of the block that ends. */
export interface Sought {
  readonly expected: Block | undefined
  /** It is known not to be the expected one. */
  readonly isRefused: boolean
  /** Whether it is the expected one is decided first. */
  readonly isAsked: boolean
  readonly isRealloc: boolean
}

interface Candidate {
  readonly block: Block
  mask: number
  rule: number
  score: number
}

/** Which block ends. */
export class Targets {
  readonly #mixer: Mixer
  readonly #history: History
  readonly #blocks: BestBlocks
  /** By order and hash: class and site of the block that ended last. */
  readonly #freed = new Map<number, { class: number; site: number }>()
  readonly #steps = new Uint32Array(1 << 15)
  readonly #lengths = new Uint8Array(1 << 15)
  readonly #rates = new Int32Array(32 * 32).fill(32_768)

  constructor(mixer: Mixer, history: History, blocks: BestBlocks) {
    this.#mixer = mixer
    this.#history = history
    this.#blocks = blocks
  }

  choose(t: Thread, { expected, isRefused, isAsked, isRealloc }: Sought): Block {
    const [s1] = t.s as [number]
    const k = isRealloc ? 1 : 0
    const places = [t.h5, t.h3, t.h2, s1].map((hash, i) => i * 65_536 + (mix(hash, i + 80 + 8 * k) >>> 16))
    const orders = places.map((place) => this.#freed.get(place) ?? { class: 0, site: 0 })
    const a = mix(t.h2, 90) >>> 17
    const b = m(t.step, t.stepBefore, s1) >>> 17
    let found: Block | undefined
    let refused = isRefused ? expected : undefined
    if (isAsked && expected !== undefined) {
      const { class: c, site } = expected
      const is = this.#mixer.mixed(256 + k, [
        mix(70, Math.min(t.matched, 400)),
        m(71, c, t.h2),
        m(72, site, t.h4),
        m(73, t.misses & 0xffff, t.wrong & 0xfff),
        m(74, site, t.wrong & 15),
      ])
      t.wrong = ((t.wrong << 1) | (1 - is)) >>> 0
      if (is === 1) {
        found = expected
        t.winners = (t.winners << 5) >>> 0
      } else refused = expected
    }
    if (found === undefined) {
      const steps = [this.#steps[a], this.#steps[b]] as const
      found = this.#vote(t, this.#collect(t, expected, refused, orders, steps), orders, k)
    }
    for (const place of places) this.#freed.set(place, { class: found.class, site: found.site & 0xffff })
    const step = (found.made - t.freedMade) >>> 0
    this.#steps[a] = this.#steps[b] = step
    t.stepBefore = t.step
    t.step = step
    return found
  }

  #collect(
    t: Thread,
    expected: Block | undefined,
    refused: Block | undefined,
    orders: readonly { class: number; site: number }[],
    steps: readonly [number, number],
  ): Candidate[] {
    const blocks = this.#blocks
    const found: Candidate[] = []
    const propose = (rule: number, block: Block | undefined) => {
      if (block === undefined || block === refused) return
      const same = found.find((candidate) => candidate.block === block)
      if (same === undefined) found.push({ block, mask: (1 << rule) >>> 0, rule: 0, score: 0 })
      else same.mask = (same.mask | (1 << rule)) >>> 0
    }
    const [five, three, two, one] = orders as [Order, Order, Order, Order]
    propose(0, expected)
    if (five.class !== 0) propose(2, blocks.site(five.site).newest)
    if (one.class !== 0) propose(5, blocks.site(one.site).newest)
    propose(6, blocks.class(two.class).newest)
    if (three.class !== 0) propose(8, blocks.site(three.site).blocks[0])
    propose(9, blocks.ofRecord(t.freedYounger))
    propose(10, blocks.ofRecord(t.freedOlder))
    propose(11, blocks.class(t.freedClass).younger)
    propose(12, blocks.class(t.freedClass).older)
    propose(13, blocks.ofRecord(t.freedSiteYounger))
    propose(15, blocks.class(0).newest)
    propose(16, blocks.class(0).blocks.at(-2))
    propose(22, blocks.class(one.class).younger)
    propose(23, blocks.class(one.class).older)
    propose(20, blocks.class(two.class).younger)
    propose(21, blocks.class(two.class).older)
    steps.forEach((step, i) => {
      const number = (t.freedMade + step) >>> 0
      if (step !== 0 && this.#history.isKept(number)) propose(24 + i, blocks.madeBy(number))
    })
    return found
  }

  #vote(t: Thread, candidates: readonly Candidate[], orders: readonly Order[], k: number): Block {
    const [s1] = t.s as [number]
    const row = (t.winners & 31) * 32
    for (const candidate of candidates) {
      const rules = rulesOf(candidate.mask)
      let best = 0
      for (const rule of rules) {
        const rate = this.#rates[row + rule]
        if (rate > best) [best, candidate.rule] = [rate, rule]
      }
      candidate.score = best + (rules.length > 1 ? 3000 : 0)
    }
    const tried = candidates.toSorted((x, y) => y.score - x.score).slice(0, 8)
    let found: Block | undefined
    let winner = 31
    for (const [i, { block, mask: q, rule: r }] of tried.entries()) {
      const { class: c, site: z, made } = block
      const isIt = this.#mixer.mixed(320 + 128 * k + 4 * r + Math.min(i, 3), [
        m(100, q, i),
        m(101, q, 8 * (t.winners & 31) + i),
        m(102, s1, 4 * c + (q & 1)),
        m(103, t.h3, z),
        m(104, z, ageOf(this.#history.sequence - made)),
        m(105, t.winners & 0x7fff, 8 * r + i),
        m(106, t.h5, (z + i) >>> 0),
        mix(mix(107, s1), mix(q, i)),
      ])
      if (isIt === 0) continue
      found = block
      winner = r
      break
    }
    found ??= this.#missed(t, orders)
    for (const { block, mask } of candidates) {
      const goal = block === found ? 65_535 : 0
      for (const rule of rulesOf(mask)) {
        this.#rates[row + rule]! += Math.trunc((goal - this.#rates[row + rule]) / 16)
      }
    }
    t.winners = ((t.winners << 5) | winner) >>> 0
    return found
  }

  #missed(t: Thread, orders: readonly Order[]): Block {
    const [s1] = t.s as [number]
    let before = 0
    for (let i = 1; i < 4; i++) {
      const { class: g } = orders[i]
      if (g === 0 || g === before || this.#blocks.class(g).blocks.length === 0) continue
      if (this.#mixer.mixed(72 + i, [m(110, g, i), m(111, g, s1), m(112, g, t.h2), mix(113, i)]) === 1) {
        const row = this.#blocks.class(g)
        return row.blocks.length === 1 ? row.blocks[0] : this.#distant(t, g, row, row.place, 80)
      }
      before = g
    }
    const all = this.#blocks.class(0)
    const younger = this.#blocks.ofRecord(t.freedYounger)
    return this.#distant(t, 0, all, younger === undefined ? all.place : all.blocks.indexOf(younger), 82)
  }

  #distant(t: Thread, g: number, row: Row, place: number, selector: number): Block {
    const [s1] = t.s as [number]
    const length = this.#lengths[g]
    const folded = this.#mixer.number(115, [mix(g, length), s1, t.winners & 1023], selector)
    this.#lengths[g] = (length << 4) | ((1 + bitsOf(folded)) >> 1)
    const block = row.blocks[place + Number(unfold(folded))]
    if (block === undefined) throw new Error('a distance without a block')
    return block
  }
}

type Order = { readonly class: number; readonly site: number }

function rulesOf(mask: number): number[] {
  return Array.from({ length: 32 }, (_, rule) => rule).filter((rule) => ((mask >>> rule) & 1) === 1)
}

function ageOf(age: number): number {
  if (age < 4) return age
  const l = lengthOf(age) - 1
  return 4 * l + ((age >>> (l - 2)) & 3)
}
