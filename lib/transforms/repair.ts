import { Intervals } from '../bytes/intervals.js'
import { HI, LO } from '../bytes/u64.js'
import { U64Map } from '../bytes/u64-map.js'
import { BATCH_EVENTS, EventBatch } from '../event/batch.js'
import { Api, Has, Kind } from '../event/fields.js'
import { gatherRows } from '../event/gather.js'
import type { TraceHeader } from '../event/header.js'
import type { BatchTransform } from '../event/stage.js'
import { Change, Ledger } from './ledger.js'
import { Extent, MAX_SIZE } from './verify.js'

const HAS_TIME = Has.time
const HAS_END_TIME = Has.endTime
const HAS_SEQUENCE = Has.sequence
const HAS_API = Has.api
const { free: FREE, alloc: ALLOC, realloc: REALLOC } = Kind

/** What a repair can change, by what it is counted as. */
export const REPAIRS = {
  'free-moved': 'frees moved before the reuse of their address',
  'free-added': 'frees added, of blocks whose place was given out again',
  'free-dropped': 'frees of blocks that are not live, left out',
  'realloc-dropped': 'reallocs to nothing of blocks that are not live, left out',
  'realloc-replaced': 'reallocs of blocks that are not live, made allocations',
  'allocation-dropped': 'allocations of an absurd size, left out',
  'size-set': 'sizes of 0, set to 1',
  'time-set': 'times that went backwards, set to that of the event before',
  'sequence-set': 'sequence numbers that did not rise, counted on',
} as const

/** The name of a change. */
export type RepairName = keyof typeof REPAIRS

/** How to repair a trace. */
export interface RepairOptions {
  /** How many events ahead a late free is looked for. Default 16,384. */
  readonly window?: number
  /** Allocations of more bytes than this are left out. Default `MAX_SIZE`. */
  readonly maxSize?: bigint
}

const NONE = -1

/** The tag of an interval whose key is an index. */
const INDEXED = 1

/** A value to be set in a batch once its rows are copied. */
interface Patch {
  readonly row: number
  apply(batch: EventBatch, row: number): void
}

/**
 * Mends a trace so that a `Verifier` finds nothing in it any more; what it changed is counted.
 *
 * A free is often recorded late: another thread is given the same address, and its allocation is recorded first. So where
 * an allocation meets a live block, the free of that block is looked for among the next events, and moved before the
 * allocation. All else that cannot be is left out, added or set; see `REPAIRS`.
 *
 * Memory grows with the number of live blocks, about 80 bytes for each, and with the window.
 */
export class Repair implements BatchTransform {
  private readonly tally = new Map<RepairName, number>()
  private readonly ledger = new Ledger(2)
  private readonly intervals = new Intervals()
  private readonly extent: Extent
  private readonly last = new Order()
  private header: TraceHeader | undefined

  /** The window: events by their number modulo its length, from `head` to `tail`. */
  private readonly capacity: number
  private readonly batchOf: Int32Array
  private readonly rowOf: Int32Array
  private readonly nextFree: Int32Array
  private readonly isTaken: Uint8Array
  private head = 0
  private tail = 0
  /** The frees in the window by their block: value words are the places of the first and the last one. */
  private readonly freesByAddress = new U64Map(2)
  private readonly freesByIndex = new U64Map(2)

  /** The batch that goes into the window, and how much of it has. */
  private incoming: EventBatch | null = null
  private entered = 0
  private isEnding = false

  /** The batches that the window and the output refer to; their numbers begin at `base`. */
  private batches: EventBatch[] = []
  private base = 0
  /** Rows for the next batch: number of the batch or, for events that were added, NONE; and row in it. */
  private readonly from = new Int32Array(BATCH_EVENTS)
  private readonly rows = new Int32Array(BATCH_EVENTS)
  private count = 0
  private patches: Patch[] = []
  private added: EventBatch | undefined
  private hasAnnounced = false

  constructor(options: RepairOptions = {}) {
    this.capacity = Math.max(1, options.window ?? 16_384)
    this.extent = new Extent(options.maxSize ?? MAX_SIZE)
    this.batchOf = new Int32Array(this.capacity)
    this.rowOf = new Int32Array(this.capacity)
    this.nextFree = new Int32Array(this.capacity)
    this.isTaken = new Uint8Array(this.capacity)
  }

  /** How often each change was made; only those that were. */
  get changes(): ReadonlyMap<RepairName, number> {
    return this.tally
  }

  feed(batch: EventBatch): void {
    this.incoming = batch
    this.entered = 0
  }

  end(): void {
    this.isEnding = true
  }

  cut(): void {
    this.isEnding = true
  }

  next(): EventBatch | null {
    const { incoming } = this
    if (incoming !== null && this.header === undefined) this.begin(incoming.header)
    const drains = this.isEnding || (incoming !== null && incoming.header !== this.header)
    while (this.count < BATCH_EVENTS) {
      if (!drains) this.enter()
      if (this.head === this.tail || (!drains && this.tail - this.head < this.capacity)) break
      this.step()
    }
    if (this.count === 0 && drains && !this.isEnding && this.head === this.tail) {
      // All of a trace is written: the next one begins.
      this.begin((incoming as EventBatch).header)
      return this.next()
    }
    if (this.count > 0 || (!this.hasAnnounced && this.header !== undefined)) return this.take()
    if (incoming !== null && this.entered === incoming.count) this.incoming = null
    return null
  }

  private begin(header: TraceHeader): void {
    this.header = header
    this.hasAnnounced = false
    this.ledger.clear()
    this.intervals.clear()
    this.last.clear()
    this.batches = []
    this.base = 0
    this.head = this.tail = 0
    this.freesByAddress.clear()
    this.freesByIndex.clear()
  }

  /** Lets events into the window while there is room. */
  private enter(): void {
    const { incoming, capacity, ledger } = this
    if (incoming === null || this.entered === incoming.count || this.tail - this.head === capacity) return
    if (this.entered === 0) this.batches.push(incoming)
    const number = this.base + this.batches.length - 1
    while (this.entered < incoming.count && this.tail - this.head < capacity) {
      const i = this.entered++
      const place = this.tail++ % capacity
      this.batchOf[place] = number
      this.rowOf[place] = i
      this.isTaken[place] = 0
      if (incoming.kind[i] !== FREE || ledger.identify(incoming, i) !== Change.ended) continue
      this.nextFree[place] = NONE
      const map = ledger.isIndexed ? this.freesByIndex : this.freesByAddress
      const isNew = map.find(ledger.endsLo, ledger.endsHi) < 0
      const at = 2 * map.add(ledger.endsLo, ledger.endsHi)
      if (isNew) map.values[at] = place
      else this.nextFree[map.values[at + 1] as number] = place
      map.values[at + 1] = place
    }
  }

  /** Puts at most one event into the output: the first of the window, or a free that has to come before it. */
  private step(): void {
    const place = this.head % this.capacity
    if (this.isTaken[place] === 1) {
      this.head++
      return
    }
    const number = this.batchOf[place] as number
    const batch = this.batches[number - this.base] as EventBatch
    const i = this.rowOf[place] as number
    const { ledger } = this
    const intent = ledger.identify(batch, i)
    if ((intent & Change.began) !== 0 && this.makeRoom(batch, i)) return
    this.head++
    if (batch.kind[i] === FREE && intent === Change.ended) this.takeFree(ledger.isIndexed, ledger.endsLo, ledger.endsHi)
    if ((intent & Change.began) !== 0) {
      this.block(batch, i, number)
      return
    }
    if (intent === Change.ended) {
      const change = ledger.take(batch, i)
      if ((change & Change.unknown) !== 0) {
        this.changed(batch.kind[i] === FREE ? 'free-dropped' : 'realloc-dropped')
        return
      }
      this.removeEnded()
    }
    this.emit(batch, i, number)
  }

  /** Ends a live block that is in the way of the one that event i begins. @returns whether there was one */
  private makeRoom(batch: EventBatch, i: number): boolean {
    const { ledger, extent, intervals } = this
    const { isIndexed, beginsLo, beginsHi, endsLo, endsHi } = ledger
    const space = isIndexed ? 0 : beginsHi ^ addressHi(batch, i)
    const fault = extent.take(batch, i, space)
    if (fault === 'absurd-size') return false
    if (fault === 'zero-size') extent.grow()
    if (ledger.find(endsLo, endsHi)) {
      if (batch.kind[i] !== REALLOC) {
        this.release(isIndexed, beginsLo, beginsHi, space, batch, i)
        return true
      }
      // The block that goes on is not in its own way.
      this.removeEnded()
    }
    const { startHi, startLo, endHi, endLo } = extent
    if ((startHi | startLo) === 0 || !intervals.overlap(startHi, startLo, endHi, endLo)) return false
    const found = { startHi: intervals.startHi, startLo: intervals.startLo }
    this.release(intervals.tag === INDEXED, intervals.keyLo, intervals.keyHi, space, batch, i)
    intervals.remove(found.startHi, found.startLo)
    return true
  }

  /** An event that begins a block, for which there is room. */
  private block(batch: EventBatch, i: number, number: number): void {
    const { ledger, extent, intervals } = this
    const { isIndexed, beginsLo, beginsHi } = ledger
    const fault = extent.take(batch, i, isIndexed ? 0 : beginsHi ^ addressHi(batch, i))
    if (fault === 'absurd-size') {
      this.changed('allocation-dropped')
      return
    }
    if (fault === 'zero-size') {
      extent.grow()
      this.changed('size-set')
      this.patch((to, row) => to.size.values.fill(1n, row, row + 1))
    }
    const change = ledger.take(batch, i)
    const { startHi, startLo, endHi, endLo } = extent
    if ((startHi | startLo) !== 0) intervals.put(startHi, startLo, endHi, endLo, beginsHi >>> 0, beginsLo, isIndexed ? INDEXED : 0)
    ledger.words[ledger.at] = startHi
    ledger.words[ledger.at + 1] = startLo
    if ((change & Change.unknown) !== 0) {
      this.changed('realloc-replaced')
      this.patch(makeAllocation)
    }
    this.emit(batch, i, number)
  }

  /** Ends a live block that is in the way of event i: by its own free, if that comes soon, else by one that is added. */
  private release(isIndexed: boolean, lo: number, hi: number, space: number, batch: EventBatch, i: number): void {
    const place = this.takeFree(isIndexed, lo, hi)
    if (place !== NONE) {
      this.isTaken[place] = 1
      const number = this.batchOf[place] as number
      const row = this.rowOf[place] as number
      const source = this.batches[number - this.base] as EventBatch
      this.ledger.take(source, row)
      this.removeEnded()
      this.changed('free-moved')
      this.emit(source, row, number, true)
      return
    }
    const added = (this.added ??= new EventBatch(BATCH_EVENTS, 0, batch.header))
    const { process, thread, cpu, time, endTime, sequence, api } = batch.event(i)
    const key = (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0)
    const address = (BigInt((hi ^ space) >>> 0) << 32n) | BigInt(lo >>> 0)
    const kernel = api === undefined ? undefined : FREED_BY[api]
    added.push({
      kind: 'free',
      ...(kernel !== undefined && { api: kernel }),
      ...(process !== undefined && { process }),
      ...(thread !== undefined && { thread }),
      ...(cpu !== undefined && { cpu }),
      ...(sequence !== undefined && { sequence }),
      ...(time !== undefined && { time }),
      ...(endTime !== undefined && { endTime }),
      ...(isIndexed ? { index: key } : { address }),
    })
    this.ledger.take(added, added.count - 1)
    this.removeEnded()
    this.changed('free-added')
    this.emit(added, added.count - 1, NONE)
  }

  /** The place of the first free of a block in the window, which is then no longer waited for; NONE if there is none. */
  private takeFree(isIndexed: boolean, lo: number, hi: number): number {
    const map = isIndexed ? this.freesByIndex : this.freesByAddress
    const slot = map.find(lo, hi)
    if (slot < 0) return NONE
    const place = map.values[2 * slot] as number
    const next = this.nextFree[place] as number
    if (next === NONE) map.remove(slot)
    else map.values[2 * slot] = next
    return place
  }

  private removeEnded(): void {
    const [hi, lo] = this.ledger.ended
    if (hi !== 0 || lo !== 0) this.intervals.remove(hi as number, lo as number)
  }

  /**
   * Adds an event to the output, with the time and the sequence number that its place allows.
   * @param isMoved it comes from further ahead, and its time with it: it gets that of the event before
   */
  private emit(batch: EventBatch, i: number, number: number, isMoved = false): void {
    const { last } = this
    const mask = batch.mask[i] as number
    const row = this.count++
    this.from[row] = number
    this.rows[row] = i
    if ((mask & HAS_TIME) !== 0 && (isMoved || !last.admitsTime(batch, i))) {
      const { timeHi, timeLo } = last
      if (!isMoved) this.changed('time-set')
      this.patchRow(row, (to) => setTime(to, row, timeLo, timeHi, isMoved))
    }
    if ((mask & HAS_SEQUENCE) !== 0 && !last.admitsSequence(batch, i, isMoved)) {
      const { sequence } = last
      this.changed('sequence-set')
      this.patchRow(row, (to) => to.sequence.fill(sequence, row, row + 1))
    }
  }

  /** For the event that is emitted next. */
  private patch(apply: Patch['apply']): void {
    this.patchRow(this.count, apply)
  }

  private patchRow(row: number, apply: Patch['apply']): void {
    this.patches.push({ row, apply })
  }

  private changed(name: RepairName): void {
    this.tally.set(name, (this.tally.get(name) ?? 0) + 1)
  }

  /** The rows of the output as a batch. */
  private take(): EventBatch {
    const { from, rows, count, batches, base, patches } = this
    const sources = this.added === undefined ? batches : [...batches, this.added]
    for (let j = 0; j < count; j++) from[j] = from[j] === NONE ? batches.length : (from[j] as number) - base
    const batch = gatherRows(this.header as TraceHeader, sources, from, rows, count)
    for (const { row, apply } of patches) apply(batch, row)
    this.count = 0
    this.patches = []
    this.added = undefined
    this.hasAnnounced = true
    // Batches before the one at the head of the window are not needed any more; the newest stays, for more of it may come.
    const needed = this.head < this.tail ? (this.batchOf[this.head % this.capacity] as number) : base + batches.length - 1
    if (needed > base) {
      this.batches = batches.slice(needed - base)
      this.base = needed
    }
    return batch
  }
}

/** How far time and sequence numbers have come. */
class Order {
  timeHi = 0
  timeLo = 0
  sequence = 0
  private hasSequence = false

  clear(): void {
    this.timeHi = this.timeLo = 0
    this.hasSequence = false
  }

  /** Goes on to the time of event i. @returns false when that is before the last one: then `timeHi` and `timeLo` stay */
  admitsTime(batch: EventBatch, i: number): boolean {
    const hi = batch.time.words[2 * i + HI] as number
    const lo = batch.time.words[2 * i + LO] as number
    if (hi < this.timeHi || (hi === this.timeHi && lo < this.timeLo)) return false
    this.timeHi = hi
    this.timeLo = lo
    return true
  }

  /**
   * Goes on to the sequence number of event i, or just to the next one if it comes from further ahead.
   * @returns false when that is not the event's own: then `sequence` is the one to take
   */
  admitsSequence(batch: EventBatch, i: number, isMoved: boolean): boolean {
    const sequence = batch.sequence[i] as number
    const rises = !this.hasSequence || (!isMoved && ((sequence - this.sequence) | 0) > 0)
    this.hasSequence = true
    this.sequence = rises ? sequence : (this.sequence + 1) | 0
    return rises
  }
}

/** What frees the blocks of a kernel's allocation functions. */
const FREED_BY: Readonly<Record<string, 'kfree' | 'kmem_cache_free' | 'pages'>> = {
  kmalloc: 'kfree', kmem_cache_alloc: 'kmem_cache_free', pages: 'pages',
}

function addressHi(batch: EventBatch, i: number): number {
  return ((batch.mask[i] as number) & Has.address) !== 0 ? (batch.address.words[2 * i + HI] as number) : 0
}

function makeAllocation(batch: EventBatch, row: number): void {
  const isRealloc = ((batch.mask[row] as number) & HAS_API) !== 0 && batch.api[row] === Api.realloc
  batch.kind[row] = ALLOC
  batch.mask[row] = (batch.mask[row] as number) & ~(Has.oldAddress | Has.outcome | (isRealloc ? HAS_API : 0))
}

/** Sets an event's time; its end is not before it then and, of one that was moved, not after it either. */
function setTime(batch: EventBatch, row: number, lo: number, hi: number, isMoved: boolean): void {
  batch.time.words[2 * row + LO] = lo
  batch.time.words[2 * row + HI] = hi
  if (((batch.mask[row] as number) & HAS_END_TIME) === 0) return
  const end = batch.endTime.values
  const time = batch.time.values[row] as bigint
  if (isMoved || (end[row] as bigint) < time) end[row] = time
}
