import { HI, LO } from '../../bytes/u64.js'
import { U64Map } from '../../bytes/u64-map.js'
import { BATCH_EVENTS, BATCH_STRING_BYTES, type EventBatch } from '../../event/batch.js'
import { FieldBit, Kind } from '../../event/fields.js'
import { gatherRows } from '../../event/gather.js'
import type { SpacesError } from '../../blocks/address-spaces.js'
import { BlockEffect } from '../../blocks/block-effect.js'
import { INDEXED } from '../../blocks/block-keys.js'
import type { LiveSet } from '../../blocks/live-set.js'
import { BY_KERNEL } from '../../kernel/layouts/live.js'

const HAS_THREAD = FieldBit.thread
const FREE = Kind.free
const NONE = -1

/** The limit for the strings of the batches in the window. Beyond it the window counts as full. */
const MAX_STRING_BYTES = 16_777_216

/** Smaller batches are joined before they enter, because each batch held has a cost. */
const SMALL_BATCH = BATCH_EVENTS / 4

/** The maximum number of events of a block that are examined to find its own free. */
const MAX_STEPS = 256

/** The layout of a place's words: the keys of the blocks that its event ends and begins, and their address space. */
const [ENDS, BEGINS, SPACE, WIDTH] = [0, 2, 4, 5]

/** A batch in the window, and the number of its events there. */
interface Held {
  readonly batch: EventBatch
  events: number
}

/**
 * The next events of a trace and their effects on each block, used to find frees that were recorded too late. An
 * event's place is its number modulo the capacity. The block it ends and the block it begins are nodes (2 * place, and
 * one more) of chains, one chain per block.
 */
export class Window {
  private readonly held: Held[] = []
  /** The number of `held[0]`; batches are counted from 0. */
  private base = 0
  private readonly batchOf: Int32Array
  private readonly rowOf: Int32Array
  private readonly isGone: Uint8Array
  private readonly nextNode: Int32Array
  /** The blocks that the events are about, by row, as in `BlockKeys`. */
  private readonly intents: Uint8Array
  private readonly words: Int32Array
  /** From a block to the first and the last of its nodes. */
  private readonly byAddress = new U64Map(2)
  private readonly byIndex = new U64Map(2)
  private head = 0
  private tail = 0
  private stringBytes = 0
  /** Batches still to be joined, and their events. */
  private small: EventBatch[] = []
  private smallEvents = 0
  private smallBytes = 0
  /** The batch that is entering, and how far it has entered. */
  private incoming: EventBatch | undefined
  private entered = 0
  /** The keys of its events from `firstRead` to `read` are in rows from 0 on. */
  private read = 0
  private firstRead = 0
  /** The reason why no more events can enter. */
  unclear: SpacesError | undefined

  /**
   * @param capacity the maximum number of events
   * @param liveSet identifies the blocks that an event concerns; the events of the window are not applied to it
   */
  constructor(
    private readonly capacity: number,
    private readonly liveSet: Pick<LiveSet, 'readClear' | 'keys'>,
  ) {
    this.batchOf = new Int32Array(capacity)
    this.rowOf = new Int32Array(capacity)
    this.isGone = new Uint8Array(capacity)
    this.nextNode = new Int32Array(2 * capacity)
    this.intents = new Uint8Array(capacity)
    this.words = new Int32Array(WIDTH * capacity)
  }

  /** Whether the first event must leave before another one can enter. */
  get isFull(): boolean {
    return this.tail - this.head === this.capacity || (this.stringBytes > MAX_STRING_BYTES && this.head < this.tail)
  }

  /** Takes the next batch, whose events then `enter`. */
  feed(batch: EventBatch): void {
    if (batch.count >= SMALL_BATCH && this.small.length === 0) {
      this.incoming = batch
      return
    }
    this.small.push(batch)
    this.smallEvents += batch.count
    this.smallBytes += batch.strings.byteLength
    if (this.smallEvents >= SMALL_BATCH || this.smallBytes > BATCH_STRING_BYTES) this.join()
  }

  /** Lets small batches enter too, because this trace has no more events. */
  join(): void {
    if (this.smallEvents > 0) this.incoming = joined(this.small, this.smallEvents)
    this.small = []
    this.smallEvents = this.smallBytes = 0
  }

  /** Lets events enter while there is room. @returns whether all of them have */
  enter(): boolean {
    const { incoming, capacity } = this
    if (incoming === undefined) return true
    if (this.unclear !== undefined) return false
    if (this.entered === 0) {
      if (this.isFull) return false
      this.held.push({ batch: incoming, events: 0 })
      this.stringBytes += incoming.strings.byteLength
    }
    const held = this.held[this.held.length - 1]
    while (this.entered < incoming.count && this.tail - this.head < capacity) {
      if (this.entered === this.read && !this.readMore(incoming)) return false
      const i = this.entered++
      const place = this.tail++ % capacity
      held.events++
      this.batchOf[place] = this.base + this.held.length - 1
      this.rowOf[place] = i
      this.isGone[place] = 0
      this.place(place, i - this.firstRead)
    }
    if (this.entered < incoming.count) return false
    this.incoming = undefined
    this.entered = this.read = 0
    this.dropUsed()
    return true
  }

  /**
   * Finds the blocks of further events of the incoming batch.
   * @returns false if those of the next event cannot be distinguished
   */
  private readMore(incoming: EventBatch): boolean {
    const from = this.read
    const to = Math.min(from + BATCH_EVENTS, incoming.count)
    const unclear = this.liveSet.readClear(incoming, from, to)
    this.firstRead = from
    this.read = unclear?.row ?? to
    if (this.read > from) return true
    this.unclear = unclear?.at({ format: incoming.header.format, event: this.tail + 1 })
    return false
  }

  /** Stores the blocks of the event at `place`. They are in row `row` of the keys. */
  private place(place: number, row: number): void {
    const { words } = this
    const { intents, ends, begins, spaces } = this.liveSet.keys
    const at = WIDTH * place
    this.intents[place] = intents[row]
    words[at + ENDS + LO] = ends[2 * row + LO]
    words[at + ENDS + HI] = ends[2 * row + HI]
    words[at + BEGINS + LO] = begins[2 * row + LO]
    words[at + BEGINS + HI] = begins[2 * row + HI]
    words[at + SPACE] = spaces[row]
    if ((intents[row] & BlockEffect.ended) !== 0) this.link(place, ENDS)
    if ((intents[row] & BlockEffect.began) !== 0) this.link(place, BEGINS)
  }

  /**
   * Puts the blocks of the event at a place into row 0 of the keys.
   * @returns its intent, as `BlockEffect` bits
   */
  identify(place: number): number {
    const { intents, words } = this
    const at = WIDTH * place
    this.liveSet.keys.set(
      intents[place],
      words[at + ENDS + LO],
      words[at + ENDS + HI],
      words[at + BEGINS + LO],
      words[at + BEGINS + HI],
      words[at + SPACE],
    )
    return intents[place] & ~(INDEXED | BY_KERNEL)
  }

  /** The place of the first event; -1 if there is none. */
  first(): number {
    while (this.head < this.tail && this.isGone[this.head % this.capacity] === 1) this.head++
    return this.head < this.tail ? this.head % this.capacity : NONE
  }

  batch(place: number): EventBatch {
    return this.held[this.batchOf[place] - this.base].batch
  }

  /** The row of the event at a place. */
  row(place: number): number {
    return this.rowOf[place]
  }

  /** Removes the first event. */
  leave(): void {
    const place = this.head++ % this.capacity
    if ((this.intents[place] & BlockEffect.ended) !== 0) this.unlink(place, ENDS)
    if ((this.intents[place] & BlockEffect.began) !== 0) this.unlink(place, BEGINS)
    this.forget(place)
  }

  /**
   * Finds the free of a live block among the next events, although event i begins another block in its place first. It
   * exists if, among the effects at its address, more blocks end than begin: then all events were recorded, and the
   * first free is the late one. If the window is inconclusive, a free is the block's own if the thread that allocated
   * it called it. A free by the thread that allocates now is never late, because the events of one thread are recorded
   * in order.
   * @param threadLo
   * @param threadHi the thread that allocated the block; undefined if unknown
   * @returns the place of the free; -1 if there is none
   */
  lateFree(
    isIndexed: boolean,
    lo: number,
    hi: number,
    threadLo: number | undefined,
    threadHi: number,
    now: EventBatch,
    i: number,
  ): number {
    const map = isIndexed ? this.byIndex : this.byAddress
    const slot = map.find(lo, hi)
    if (slot < 0) return NONE
    let live = 1
    let free = NONE
    let steps = 0
    for (let node = map.values[2 * slot]; node !== NONE && steps < MAX_STEPS; node = this.nextNode[node]) {
      const place = node >> 1
      live += (node & 1) === 1 ? 1 : -1
      if (free === NONE && (node & 1) === 0 && this.isFreeByAnother(place, now, i)) free = place
      if (live === 0) return free
      steps++
    }
    if (free === NONE || threadLo === undefined) return NONE
    return isThread(this.batch(free), this.row(free), threadLo, threadHi) ? free : NONE
  }

  /** Removes an event that `lateFree` found. */
  take(place: number): void {
    this.unlink(place, ENDS)
    this.isGone[place] = 1
    this.forget(place)
  }

  /** Starts another trace. The window is empty. */
  clear(): void {
    this.byAddress.clear()
    this.byIndex.clear()
  }

  /** Whether the event at a place is a free by another thread than event i's. */
  private isFreeByAnother(place: number, now: EventBatch, i: number): boolean {
    const batch = this.batch(place)
    if (batch.kind[this.row(place)] !== FREE) return false
    if ((now.mask[i] & HAS_THREAD) === 0) return true
    return !isThread(batch, this.row(place), now.thread.words[2 * i + LO], now.thread.words[2 * i + HI])
  }

  /** Adds a place to the chain of the block that its event ends or begins: `ENDS` or `BEGINS`. */
  private link(place: number, side: typeof ENDS | typeof BEGINS): void {
    const map = this.intents[place] < INDEXED ? this.byAddress : this.byIndex
    const node = 2 * place + (side === ENDS ? 0 : 1)
    const [lo, hi] = [this.words[WIDTH * place + side + LO], this.words[WIDTH * place + side + HI]]
    const slot = map.find(lo, hi)
    const at = 2 * (slot < 0 ? map.add(lo, hi) : slot)
    if (slot < 0) map.values[at] = node
    else this.nextNode[map.values[at + 1]] = node
    map.values[at + 1] = node
    this.nextNode[node] = NONE
  }

  /** Removes it. */
  private unlink(place: number, side: typeof ENDS | typeof BEGINS): void {
    const { nextNode } = this
    const map = this.intents[place] < INDEXED ? this.byAddress : this.byIndex
    const node = 2 * place + (side === ENDS ? 0 : 1)
    const [lo, hi] = [this.words[WIDTH * place + side + LO], this.words[WIDTH * place + side + HI]]
    const slot = map.find(lo, hi)
    const next = nextNode[node]
    if (map.values[2 * slot] === node) {
      if (next === NONE) map.remove(slot)
      else map.values[2 * slot] = next
      return
    }
    let before = map.values[2 * slot]
    while (nextNode[before] !== node) before = nextNode[before]
    nextNode[before] = next
    if (next === NONE) map.values[2 * slot + 1] = before
  }

  private forget(place: number): void {
    this.held[this.batchOf[place] - this.base].events--
    this.dropUsed()
  }

  /** Drops batches that have no events left here, except the one that is entering. */
  private dropUsed(): void {
    const { held } = this
    while (held.length > 0 && held[0]?.events === 0 && held[0].batch !== this.incoming) {
      this.stringBytes -= (held.shift() as Held).batch.strings.byteLength
      this.base++
    }
  }
}

function isThread(batch: EventBatch, i: number, lo: number, hi: number): boolean {
  const { words } = batch.thread
  return (batch.mask[i] & HAS_THREAD) !== 0 && words[2 * i + LO] === lo && words[2 * i + HI] === hi
}

/** Joins small batches into one. */
function joined(batches: readonly EventBatch[], n: number): EventBatch {
  const from = new Int32Array(n)
  const rows = new Int32Array(n)
  let j = 0
  batches.forEach(({ count }, k) => {
    for (let i = 0; i < count; i++) {
      from[j] = k
      rows[j++] = i
    }
  })
  return gatherRows(batches[0].header, batches, from, rows, n)
}
