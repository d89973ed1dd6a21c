import { HI, LO } from '../bytes/u64.js'
import { U64Map } from '../bytes/u64-map.js'
import type { EventBatch, U64Column } from '../event/batch.js'
import { Api, Has, Kind, Outcome } from '../event/fields.js'
import { AddressSpaces, PAGE_BIT } from './address-spaces.js'

const HAS_API = Has.api
const HAS_ADDRESS = Has.address
const HAS_OLD_ADDRESS = Has.oldAddress
const HAS_INDEX = Has.index
const HAS_SIZE = Has.size
const HAS_OUTCOME = Has.outcome
const { existing: EXISTING, free: FREE, realloc: REALLOC } = Kind
/** The APIs from here on are those of a kernel. */
const KMALLOC = Api.kmalloc
const { none: STAYED, allocated: ALLOCATED, freed: FREED } = Outcome

/** What an event did to the live set: a set of these bits. */
export const Change = {
  /** A block began: its words are those of `began`, all zero. */
  began: 1,
  /** A block ended: its words were copied to `ended`. With `began`, in a realloc, it goes on as the one that began. */
  ended: 2,
  /** A free or realloc of a block that is not live. */
  unknown: 4,
  /** With `unknown`: the block was freed not long ago. */
  again: 8,
  /** With `began`: a block was live at the address already. It is no more, and its words were copied to `overwritten`. */
  reused: 16,
  /** A free of the null pointer, or a realloc of it to nothing: no change. */
  nothing: 32,
  /** An allocation without a result, or a realloc that failed: no change. */
  failed: 64,
} as const

/** How many of the blocks freed last are remembered, to tell a double free from a free of an unknown block; a power of two. */
const REMEMBERED = 65_536

/**
 * The live set of a trace: which blocks there are, and some words that its user keeps for each.
 *
 * A block's identity is its allocation index where the event has one (mpatrol's are never reused), else its address in
 * its address space (see `AddressSpaces`). Memory grows with the number of blocks that are live at once: 12 + 4 * `width` bytes for each slot of a
 * table that is at most 5/8 full.
 */
export class Ledger {
  /** Words of the block that ended. */
  readonly ended: Uint32Array
  /** Words of the live block whose address was given out again. */
  readonly overwritten: Uint32Array
  /** What `identify` and `take` found: the block to be ended and the one that begins, each by its index or by its address in its space. */
  endsLo = 0
  endsHi = 0
  beginsLo = 0
  beginsHi = 0
  isIndexed = false
  /** What sets the address space of these addresses apart; 0 for indices. See `AddressSpaces`. */
  space = 0
  private readonly byAddress: U64Map
  private readonly byIndex: U64Map
  private map: U64Map
  private slot = -1
  private readonly spaces = new AddressSpaces()
  /** Keys of blocks freed of late, each in the one place that its key allows; the null key for none. */
  private readonly freed = new Uint32Array(2 * REMEMBERED)
  private hasFreed = false

  /** @param width how many words are kept for each block */
  constructor(readonly width: number) {
    this.byAddress = new U64Map(width)
    this.byIndex = new U64Map(width)
    this.map = this.byAddress
    this.ended = new Uint32Array(width)
    this.overwritten = new Uint32Array(width)
  }

  /** How many blocks are live. */
  get size(): number {
    return this.byAddress.size + this.byIndex.size
  }

  /** The words of the block that began, to be filled: `words[at .. at + width)`. Valid until the next call of `take`. */
  get words(): Uint32Array {
    return this.map.values
  }

  /** See `words`. */
  get at(): number {
    return this.slot * this.width
  }

  /** Forgets all blocks: another trace begins. */
  clear(): void {
    this.byAddress.clear()
    this.byIndex.clear()
    this.spaces.clear()
    // It is large, and a stream may hold very many very short traces.
    if (this.hasFreed) this.freed.fill(0)
    this.hasFreed = false
  }

  /** Every live block's words: calls `visit(words, at)` for each. */
  forEach(visit: (words: Uint32Array, at: number) => void): void {
    for (const map of [this.byAddress, this.byIndex]) map.forEach((slot) => visit(map.values, slot * this.width))
  }

  /** Applies event i of a batch. @returns what it did, a set of `Change` bits; 0 for events that are not about a block */
  take(batch: EventBatch, i: number): number {
    const intent = this.identify(batch, i)
    if ((intent & (Change.began | Change.ended)) === 0) return intent
    let change = 0
    if ((intent & Change.ended) !== 0) {
      change = this.end(this.endsLo, this.endsHi)
      if ((change & Change.unknown) !== 0 && isKernel(batch, i)) {
        // A kernel may free pages as an object, or the reverse.
        const other = this.end(this.endsLo, this.endsHi ^ PAGE_BIT)
        if ((other & Change.unknown) === 0) change = other
      }
    }
    return (intent & Change.began) === 0 ? change : change | this.begin(this.beginsLo, this.beginsHi)
  }

  /**
   * Finds out which blocks event i is about, without applying it: the one that it is to end (`endsLo`, `endsHi`), the one that
   * it begins (`beginsLo`, `beginsHi`), and whether these are indices (`isIndexed`).
   * @returns which of the two there are, as `Change.ended` and `Change.began`; or `nothing` or `failed`; 0 if it is not about a block
   */
  identify(batch: EventBatch, i: number): number {
    const kind = batch.kind[i] as number
    if (kind > EXISTING) return 0
    const mask = batch.mask[i] as number
    const isIndexed = (mask & HAS_INDEX) !== 0
    this.isIndexed = isIndexed
    this.map = isIndexed ? this.byIndex : this.byAddress
    const column = isIndexed ? batch.index : batch.address
    const has = isIndexed ? HAS_INDEX : HAS_ADDRESS
    const lo = word(column, i, LO, mask, has)
    const hi = word(column, i, HI, mask, has)
    const space = isIndexed ? 0 : this.spaces.of(batch, i)
    this.space = space
    this.beginsLo = this.endsLo = lo
    this.beginsHi = this.endsHi = hi ^ space
    if (kind === REALLOC) {
      if (!isIndexed) return this.identifyRealloc(batch, i, mask, lo, hi, space)
      return endsBlock(batch, i) ? Change.ended : Change.ended | Change.began
    }
    if (kind === FREE) return (lo | hi) === 0 ? Change.nothing : Change.ended
    return (lo | hi) === 0 ? Change.failed : Change.began
  }

  /** Whether a block is live, in the table that `identify` used last; if so, its words are copied to `ended`. */
  find(lo: number, hi: number): boolean {
    const slot = this.map.find(lo, hi)
    if (slot >= 0) this.copy(slot, this.ended)
    return slot >= 0
  }

  /** The words of a live block by its index or address, as `identify` tells them; undefined if it is not live. Valid until the next change. */
  peek(isIndexed: boolean, lo: number, hi: number): Uint32Array | undefined {
    const map = isIndexed ? this.byIndex : this.byAddress
    const slot = map.find(lo, hi)
    return slot < 0 ? undefined : map.values.subarray(slot * this.width, (slot + 1) * this.width)
  }

  private identifyRealloc(batch: EventBatch, i: number, mask: number, lo: number, hi: number, space: number): number {
    const outcome = (mask & HAS_OUTCOME) !== 0 ? (batch.outcome[i] as number) : -1
    const hasOld = outcome === ALLOCATED ? 0 : HAS_OLD_ADDRESS
    let oldLo = word(batch.oldAddress, i, LO, mask, hasOld)
    let oldHi = word(batch.oldAddress, i, HI, mask, hasOld)
    if (outcome === STAYED) {
      // One address is enough to say where the block stayed.
      if ((mask & HAS_OLD_ADDRESS) === 0) [oldLo, oldHi] = [lo, hi]
      else if ((mask & HAS_ADDRESS) === 0) [lo, hi] = [oldLo, oldHi]
    }
    this.beginsLo = lo
    this.beginsHi = hi ^ space
    this.endsLo = oldLo
    this.endsHi = oldHi ^ space
    const isOldNull = (oldLo | oldHi) === 0
    if ((lo | hi) !== 0 && outcome !== FREED) return isOldNull ? Change.began : Change.began | Change.ended
    if (!endsBlock(batch, i)) return Change.failed
    return isOldNull ? Change.nothing : Change.ended
  }

  private begin(lo: number, hi: number): number {
    const { map } = this
    const old = map.find(lo, hi)
    if (old >= 0) this.copy(old, this.overwritten)
    this.slot = map.add(lo, hi)
    if (old < 0) return Change.began
    this.words.fill(0, this.at, this.at + this.width)
    return Change.began | Change.reused
  }

  private end(lo: number, hi: number): number {
    const { map, freed } = this
    const slot = map.find(lo, hi)
    const place = 2 * placeOf(lo, hi)
    if (slot < 0) {
      // The null key, which stands for none there, can only be a damaged trace's index.
      const again = (lo | hi) !== 0 && freed[place] === lo >>> 0 && freed[place + 1] === hi >>> 0
      return again ? Change.unknown | Change.again : Change.unknown
    }
    this.hasFreed = true
    freed[place] = lo
    freed[place + 1] = hi
    this.copy(slot, this.ended)
    map.remove(slot)
    return Change.ended
  }

  private copy(slot: number, to: Uint32Array): void {
    const { width } = this
    const { values } = this.map
    for (let w = 0; w < width; w++) to[w] = values[slot * width + w] as number
  }
}

/**
 * Whether a realloc freed its block: by its outcome, or because it gives no new address and did not ask for any bytes. One
 * that asked for some and got none failed, and the old block lives on.
 */
export function endsBlock(batch: EventBatch, i: number): boolean {
  const mask = batch.mask[i] as number
  if ((mask & HAS_OUTCOME) !== 0) {
    if (batch.outcome[i] === FREED) return true
    if (batch.outcome[i] === STAYED) return false
  }
  return isZero(batch.address, i, mask, HAS_ADDRESS) && isZero(batch.size, i, mask, HAS_SIZE)
}

function isZero(column: U64Column, i: number, mask: number, has: number): boolean {
  return (mask & has) === 0 || ((column.words[2 * i] as number) | (column.words[2 * i + 1] as number)) === 0
}

function word(column: U64Column, i: number, half: 0 | 1, mask: number, has: number): number {
  return (mask & has) !== 0 ? (column.words[2 * i + half] as number) : 0
}

function placeOf(lo: number, hi: number): number {
  const h = Math.imul(lo ^ Math.imul(hi, 0x85eb_ca6b), 0x9e37_79b1)
  return (h ^ (h >>> 15)) & (REMEMBERED - 1)
}

function isKernel(batch: EventBatch, i: number): boolean {
  return ((batch.mask[i] as number) & HAS_API) !== 0 && (batch.api[i] as number) >= KMALLOC
}
