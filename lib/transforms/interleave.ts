import { HI, LO } from '../bytes/u64.js'
import { BATCH_EVENTS, type EventBatch } from '../event/batch.js'
import { gatherRows } from '../event/gather.js'
import type { TraceHeader } from '../event/header.js'
import { Lane } from './lane.js'

/** A lane whose events hold on to batches with more events than this, and most of them given out, has them copied out of these. */
const PINNED_EVENTS = 4 * BATCH_EVENTS

/** A batch that has events which were not given out yet. */
interface Source {
  /** Its number in `sources`. */
  id: number
  batch: EventBatch
  lane: Lane
  /** How many of its events are still to be given out. */
  left: number
  /** Its place in the batch being made; -1 if it has none. */
  place: number
}

/**
 * Merges inputs whose events come nearly in the order of their keys, which are words in pairs (see `OrderKeys`), into one
 * stream in that order. Equal keys keep the order of the inputs, and within an input their own. An event that comes too
 * late to be put in order, behind more than `window` events of its input with greater keys, is given out at once.
 *
 * It holds the batches that were fed and not given out yet: when each input is fed only if `wants` asks for it, one batch
 * and the window of each.
 */
export class Interleaver {
  /** The keys of the batch that was given out last, in pairs of words. */
  readonly keys = new Uint32Array(2 * BATCH_EVENTS)
  private readonly lanes: Lane[]
  /** The lanes that have an event to give, as a binary heap by key. */
  private readonly heap: Int32Array
  private heapSize = 0
  /** The key of each lane's first event. */
  private readonly headLo: Uint32Array
  private readonly headHi: Uint32Array
  /** How many lanes have no event to give and have not ended. */
  private dry: number
  /** Where to look first for a dry lane. */
  private wanted = 0
  private readonly sources: (Source | undefined)[] = []
  private readonly free: number[] = []
  private readonly from = new Int32Array(BATCH_EVENTS)
  private readonly rows = new Int32Array(BATCH_EVENTS)

  /**
   * @param inputs how many there are
   * @param window how many events of an input may have greater keys than one that comes behind them, for that one still to
   *   be put in order
   */
  constructor(inputs: number, window = 0) {
    this.lanes = Array.from({ length: inputs }, () => new Lane(window))
    this.heap = new Int32Array(inputs)
    this.headLo = new Uint32Array(inputs)
    this.headHi = new Uint32Array(inputs)
    this.dry = inputs
  }

  /** The next batch of an input, and the keys of its events. */
  feed(input: number, batch: EventBatch, keys: Uint32Array): void {
    if (batch.count === 0) return
    const lane = this.lanes[input] as Lane
    if (lane.pinned > PINNED_EVENTS + 2 * (lane.end - lane.at)) this.repack(lane)
    lane.append(this.add(batch, lane), keys, batch.count)
    this.enter(input, lane)
  }

  /** An input is complete. */
  end(input: number): void {
    const lane = this.lanes[input] as Lane
    if (lane.ended) return
    lane.close()
    if (!lane.queued && lane.at === lane.end) this.dry--
    else this.enter(input, lane)
  }

  /** An input that must be fed or ended before `next` can give anything; -1 if there is none. */
  wants(): number {
    if (this.dry === 0) return -1
    const { lanes } = this
    for (;;) {
      const lane = lanes[this.wanted] as Lane
      if (!lane.queued && !lane.ended) return this.wanted
      this.wanted = (this.wanted + 1) % lanes.length
    }
  }

  /** The next events, as many as can be put in order; null when an input is wanted, or at the end. */
  next(header: TraceHeader): EventBatch | null {
    if (this.dry > 0 || this.heapSize === 0) return null
    const used: Source[] = []
    let n = 0
    while (n < BATCH_EVENTS && this.dry === 0 && this.heapSize > 0) n = this.take(n, used)
    return this.gather(header, used, this.from, this.rows, n)
  }

  /** Takes events of the first lane as long as no other lane has smaller ones. @returns how many events there are now */
  private take(n: number, used: Source[]): number {
    const { heap, headLo, headHi, from, rows, keys, sources } = this
    const input = heap[0] as number
    const lane = this.lanes[input] as Lane
    const { lo, hi, row, source, released } = lane
    let { at } = lane
    // What the other lanes have is not less than this.
    let other = -1
    if (this.heapSize > 1) other = heap[this.heapSize > 2 && this.isBefore(heap[2] as number, heap[1] as number) ? 2 : 1] as number
    const otherLo = other < 0 ? 0 : (headLo[other] as number)
    const otherHi = other < 0 ? 0 : (headHi[other] as number)
    for (;;) {
      const origin = sources[source[at] as number] as Source
      if (origin.place < 0) origin.place = used.push(origin) - 1
      origin.left--
      from[n] = origin.place
      rows[n] = row[at] as number
      keys[2 * n + LO] = lo[at] as number
      keys[2 * n + HI] = hi[at] as number
      n++
      at++
      if (at === released || n === BATCH_EVENTS) break
      if (other >= 0 && ((hi[at] as number) - otherHi || (lo[at] as number) - otherLo || input - other) > 0) break
    }
    lane.at = at
    if (at < released) {
      headLo[input] = lo[at] as number
      headHi[input] = hi[at] as number
    } else {
      this.heapSize--
      heap[0] = heap[this.heapSize] as number
      lane.queued = false
      if (!lane.ended) {
        this.dry++
        this.wanted = input
      }
    }
    this.siftDown()
    return n
  }

  /** Makes a batch of rows, and forgets the sources that have no more. */
  private gather(header: TraceHeader, used: readonly Source[], from: Int32Array, rows: Int32Array, n: number): EventBatch {
    const batch = gatherRows(header, used.map((source) => source.batch), from, rows, n)
    for (const source of used) {
      source.place = -1
      if (source.left > 0) continue
      source.lane.pinned -= source.batch.count
      this.sources[source.id] = undefined
      this.free.push(source.id)
    }
    return batch
  }

  private add(batch: EventBatch, lane: Lane): number {
    const id = this.free.pop() ?? this.sources.length
    this.sources[id] = { id, batch, lane, left: batch.count, place: -1 }
    lane.pinned += batch.count
    return id
  }

  /** Copies what a lane holds out of large batches of which only some events are left. */
  private repack(lane: Lane): void {
    const { at, source, row } = lane
    const n = lane.end - at
    if (n === 0) return
    const used: Source[] = []
    const from = new Int32Array(n)
    for (let j = 0; j < n; j++) {
      const origin = this.sources[source[at + j] as number] as Source
      if (origin.place < 0) origin.place = used.push(origin) - 1
      origin.left--
      from[j] = origin.place
    }
    const batch = this.gather((used[0] as Source).batch.header, used, from, row.slice(at, at + n), n)
    lane.refer(this.add(batch, lane))
  }

  /** Puts a lane into the heap if it has an event to give and is not there. */
  private enter(input: number, lane: Lane): void {
    if (lane.queued || lane.at === lane.released) return
    lane.queued = true
    this.dry--
    const { heap, headLo, headHi } = this
    headLo[input] = lane.lo[lane.at] as number
    headHi[input] = lane.hi[lane.at] as number
    let i = this.heapSize++
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (this.isBefore(heap[parent] as number, input)) break
      heap[i] = heap[parent] as number
      i = parent
    }
    heap[i] = input
  }

  private siftDown(): void {
    const { heap, heapSize } = this
    const input = heap[0] as number
    let i = 0
    for (;;) {
      let child = 2 * i + 1
      if (child >= heapSize) break
      if (child + 1 < heapSize && this.isBefore(heap[child + 1] as number, heap[child] as number)) child++
      if (this.isBefore(input, heap[child] as number)) break
      heap[i] = heap[child] as number
      i = child
    }
    heap[i] = input
  }

  /** Whether the first event of lane a comes before that of lane b. */
  private isBefore(a: number, b: number): boolean {
    const { headLo, headHi } = this
    return ((headHi[a] as number) - (headHi[b] as number) || (headLo[a] as number) - (headLo[b] as number) || a - b) < 0
  }
}
