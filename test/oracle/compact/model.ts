import { KINDS } from '../../../lib/event/fields.js'
import { Addresses } from './addresses.js'
import { BestBlocks } from './best/blocks.js'
import { m, Mixer } from './best/mixer.js'
import { BestSymbols } from './best/symbols.js'
import { Classes, type Block, type LiveBlocks } from './classes.js'
import { Coder, mix } from './coder.js'
import { Descriptors, fieldNumber, FLAG, FORM } from './descriptors.js'
import { History, type Thread } from './history.js'
import { Names } from './names.js'
import { OtherFields } from './other-fields.js'
import { Simulation } from './simulation.js'
import { Symbols } from './symbols.js'
import { Threads } from './threads.js'

const PROCESS = fieldNumber('process')
const THREAD = fieldNumber('thread')
const ADDRESS = fieldNumber('address')
const OLD_ADDRESS = fieldNumber('oldAddress')
const SIZE = fieldNumber('size')
const INDEX = fieldNumber('index')
const API = fieldNumber('api')
const COUNT = fieldNumber('count')
const ALIGNMENT = fieldNumber('alignment')
const EXISTING = KINDS.indexOf('existing')
const FREE = KINDS.indexOf('free')
const THREAD_END = KINDS.indexOf('thread-destroy')
const PROCESS_END = KINDS.indexOf('process-end')

/** What a block is known by: its address and process. */
function keyOf(address: bigint, t: Thread): bigint {
  return address ^ BigInt.asUintN(64, (t.process ?? 0n) * 0x9e37_79b9_7f4a_7c15n)
}

/** An event as words: the number of a name or list for its value. */
export interface Words {
  readonly kind: number
  readonly mask: number
  readonly values: ReadonlyMap<number, bigint>
}

/** The model of a level. */
export class Model {
  readonly coder = new Coder()
  readonly names = new Names(this.coder)
  readonly #mixer: Mixer | undefined
  readonly #threads
  readonly #history
  readonly #blocks: LiveBlocks
  readonly #descriptors = new Descriptors(this.coder, this.names)
  readonly #symbols: Symbols | BestSymbols
  readonly #addresses = new Addresses(this.coder)
  readonly #others = new OtherFields(this.coder, this.names)
  readonly #simulation: Simulation | undefined

  /** For the best level: whether the addresses of new blocks were others than the simulated ones, as bits. */
  #surprises = 0
  readonly #calm = this.coder.table(1)

  /** The upper bits of keys in the processes that ended after the last pass, and the number of that pass. */
  readonly #ended = new Set<bigint>()
  #lastPass = 0

  /** @param settings of the simulated allocator; empty if there is none */
  constructor(level: number, settings: Uint8Array) {
    const { coder } = this
    const isBest = level === 2
    this.#mixer = isBest ? new Mixer(coder) : undefined
    this.#threads = new Threads(coder, this.#mixer)
    this.#history = new History(isBest)
    if (this.#mixer === undefined) {
      const classes = new Classes(coder)
      this.#blocks = classes
      this.#symbols = new Symbols(coder, this.#history, classes, this.#descriptors)
    } else {
      const blocks = new BestBlocks()
      this.#blocks = blocks
      this.#symbols = new BestSymbols(coder, this.#mixer, this.#history, blocks, this.#descriptors)
    }
    this.#simulation = settings.length === 0 ? undefined : new Simulation(settings)
  }

  /** The next event. @param ends whether blocks end with their process */
  event(ends: boolean): Words {
    if (this.names.limit()) this.#descriptors.forget()
    const t = this.#threads.next()
    const history = this.#history
    history.take()
    let chosen = this.#symbols.next(t, { known: 0, isSecond: false })
    let isCorrected = chosen.symbol === 2
    if (isCorrected) chosen = this.#symbols.next(t, { known: 0, isSecond: false })
    let number = chosen.symbol >> 1
    if (chosen.symbol === 0) {
      number = this.#descriptors.make()
      if (this.#descriptors.get(number).form === FORM.ends) {
        chosen = this.#symbols.next(t, { known: number, isSecond: false })
        if (chosen.block === undefined) throw new Error('a free is missing')
      } else {
        chosen = { symbol: number * 2, block: undefined, free: 0 }
        if (this.#symbols instanceof BestSymbols) this.#symbols.learn(t, number * 2)
      }
    }
    let ending = chosen.block
    if (ending !== undefined) number = chosen.free
    const { kind, form, flags, mask: others, values: recurring } = this.#descriptors.get(number)
    const values = new Map(recurring)
    let mask = others
    const has = (f: number) => ((others >>> f) & 1) === 1
    for (const [f, value] of [
      [THREAD, t.thread],
      [PROCESS, t.process],
    ] as const) {
      if (value === undefined) continue
      mask |= 1 << f
      values.set(f, value)
    }
    const size = values.get(SIZE) ?? 0n

    if (ending !== undefined) {
      if (form !== FORM.ends) throw new Error('a free that is none')
      const age = history.sequence - ending.made
      const address = keyOf(ending.key, t)
      values.set(ADDRESS, address)
      if ((flags & FLAG.blockSize) !== 0) values.set(SIZE, ending.size)
      if (has(OLD_ADDRESS)) {
        values.set(OLD_ADDRESS, (flags & FLAG.oldZero) !== 0 ? 0n : this.#addresses.difference(t.address, 0))
      }
      this.#others.read(values, others, number, t, ending)
      this.#end(t, ending)
      this.#freed(t, ending, address)
      history.note(t, chosen.symbol, chosen.free, age)
      return { kind, mask, values }
    }

    let address = 0n
    const simulation = this.#simulation
    const isSimulated =
      simulation?.isOn === true && (form === FORM.makes || form === FORM.moves) && kind !== EXISTING && has(SIZE)
    let handle = 0
    const expected = (old?: Block) => {
      const [api, count, alignment] = [values.get(API), values.get(COUNT), values.get(ALIGNMENT)]
      const guess = simulation?.expect(t, { size, api, count, alignment }, old) ?? 0n
      if (this.#mixer !== undefined) isCorrected = this.#isSurprise(this.#mixer, t, number, size)
      const is = isCorrected ? this.#addresses.difference(t.address, 2) : guess
      handle = simulation?.settle(guess, is) ?? 0
      return is
    }
    const isBest = this.#mixer !== undefined
    let age = 0
    const isRealloc = form === FORM.moves || form === FORM.drops || form === FORM.keeps
    if (isRealloc) {
      if (!isBest) {
        history.note(t, chosen.symbol, 0, 0)
        history.take()
      }
      const second = this.#symbols.next(t, { known: 0, isSecond: true })
      ending = second.block
      if (ending === undefined) throw new Error('the block of a realloc is missing')
      const old = keyOf(ending.key, t)
      values.set(OLD_ADDRESS, old)
      age = history.sequence - ending.made
      if (!isBest) history.note(t, second.symbol, 0, age)
      if (form !== FORM.keeps) this.#end(t, ending)
      if (form === FORM.drops) this.#freed(t, ending, old)
      if (form === FORM.moves) {
        if (!isBest) history.take()
        if (isSimulated) address = expected(ending)
        else if (this.#addresses.stays(ending, size)) address = old
        else {
          address = this.#addresses.guess(t, size)
          this.#freed(t, ending, old)
        }
      }
    } else {
      if (has(OLD_ADDRESS)) {
        values.set(OLD_ADDRESS, (flags & FLAG.oldZero) !== 0 ? 0n : this.#addresses.difference(t.address, 0))
      }
      if (form === FORM.makes) address = isSimulated ? expected() : this.#addresses.guess(t, size)
      else if (has(ADDRESS) && (flags & FLAG.zero) === 0) address = this.#addresses.difference(t.address, 1)
    }
    if (has(ADDRESS)) values.set(ADDRESS, address)
    if (address !== 0n) t.address = address
    this.#others.read(values, others, number, t, ending)
    if (form === FORM.makes || form === FORM.moves) {
      const { sequence } = history
      const index = values.get(INDEX) ?? 0n
      const block = this.#blocks.add({
        made: sequence,
        class: number,
        key: keyOf(address, t),
        size,
        index,
        handle,
        site: m(number, ...t.s.slice(0, 2)),
      })
      history.born[history.at(sequence)] = block.birth
    }
    if (form === FORM.plain && kind === THREAD_END) simulation?.end(t)
    if (form === FORM.plain && kind === FREE) simulation?.free(t)
    if (form === FORM.plain && kind === PROCESS_END && ends) this.#endProcess(t)
    if (isBest || (form !== FORM.drops && form !== FORM.keeps)) history.note(t, chosen.symbol, 0, isBest ? age : 0)
    return { kind, mask, values }
  }

  /** Forgets the blocks of the processes that have ended, if enough events came since the last time. */
  #endProcess(t: Thread): void {
    const upper = keyOf(0n, t) >> 47n
    this.#ended.add(upper).add(upper ^ 0x1_ffffn)
    const { sequence } = this.#history
    const { blocks } = this.#blocks.records
    if (8 * (sequence - this.#lastPass) < blocks.length + 1) return
    for (const block of blocks) if (block !== undefined && this.#ended.has(block.key >> 47n)) this.#blocks.end(block)
    this.#ended.clear()
    this.#lastPass = sequence
  }

  /** The place of a block is free again. */
  #freed(t: Thread, block: Block, address: bigint): void {
    if (this.#simulation?.isOn === true) this.#simulation.free(t, block)
    else this.#addresses.freed(t, block, address)
  }

  /** For the best level: whether the address of a new block is another than the simulated one. */
  #isSurprise(mixer: Mixer, t: Thread, number: number, size: bigint): boolean {
    const v = this.#surprises
    const contexts = [
      mix(120, v & 0xff),
      mix(121, v & 0xffff),
      m(122, size < 4096n ? Number(size) : 4096, v & 1),
      m(123, t.s[0], number),
    ]
    const y = v === 0 ? this.coder.one(this.#calm.at(0)) : mixer.mixed(68, contexts)
    this.#surprises = ((v << 1) | y) >>> 0
    return y === 1
  }

  #end(t: Thread, block: Block): void {
    t.freed = block.birth
    if (this.#blocks instanceof BestBlocks) {
      const all = this.#blocks.class(0).blocks
      const siblings = this.#blocks.site(block.site).blocks
      t.freedMade = block.made
      t.freedClass = block.class
      t.freedYounger = all[all.indexOf(block) + 1]?.record
      t.freedOlder = all[all.indexOf(block) - 1]?.record
      t.freedSiteYounger = siblings[siblings.indexOf(block) + 1]?.record
    }
    this.#blocks.end(block)
  }
}
