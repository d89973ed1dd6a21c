import { HI, LO } from '../bytes/u64.js'
import { BATCH_EVENTS, BATCH_STRING_BYTES, type EventBatch } from '../event/batch.js'
import { gatherRows } from '../event/gather.js'
import type { TraceHeader } from '../event/header.js'
import { rowLength } from '../event/pack.js'
import { ReorderBuffer } from './reorder-buffer.js'

/**
 * A lane that refers to batches with more events than this, most of which have been delivered, has the rest copied out.
 */
const PINNED_EVENTS = 4 * BATCH_EVENTS

/** The approximate memory of a batch besides its columns and strings, and the maximum memory of an event in columns. */
const BATCH_BYTES = 2000
const ROW_BYTES = 256

/**
 * A batch is closed when the strings of its events take this much memory in their sources. Strings that several inputs
 * share are counted for each, although the new batch stores them once.
 */
const TAKEN_BYTES = 2 * BATCH_STRING_BYTES

/** A batch with events that have not been delivered yet. */
interface Source {
  /** Its index in `sources`. */
  id: number
  batch: EventBatch
  lane: ReorderBuffer
  /** Its memory in bytes, and the mean memory of an event's strings. */
  memory: number
  strings: number
  /** The number of its events that remain to be delivered. */
  left: number
  /** Its index in the batch being built; -1 if it has none. */
  place: number
}

/**
 * A k-way merge of inputs whose events are nearly in the order of their keys (pairs of words, see `SortKeys`). Events
 * with equal keys keep the order of the inputs and their order within an input. An event that arrives too late to be
 * put in order, after more than `window` events of its input with greater keys, is delivered at once.
 *
 * The merge holds the batches that were fed and not delivered yet. If each input is fed only when `wants` asks for it,
 * that is one batch and the window of each. The window is reduced where the strings of its events take too much memory.
 */
export class KWayMerger {
  /** The keys of the last batch delivered, as pairs of words. */
  readonly keys = new Uint32Array(2 * BATCH_EVENTS)
  private readonly lanes: ReorderBuffer[]
  /** The lanes with events to deliver, as a binary heap by key. */
  private readonly heap: Int32Array
  private heapSize = 0
  /** The key of each lane's first event. */
  private readonly headLo: Uint32Array
  private readonly headHi: Uint32Array
  /** The number of lanes that have nothing to deliver and have not ended. */
  private dry: number
  /** Where to start searching for such a lane. */
  private wanted = 0
  private readonly sources: (Source | undefined)[] = []
  private readonly free: number[] = []
  /** The memory of the strings of the batch being built, in their sources. */
  private taken = 0
  private readonly from = new Int32Array(BATCH_EVENTS)
  private readonly rows = new Int32Array(BATCH_EVENTS)

  /**
   * @param inputs the number of inputs
   * @param window how many events of an input with greater keys may precede an event that is still put in order
   * @param laneBytes the approximate limit for the strings of the events in a window, in bytes
   */
  constructor(
    inputs: number,
    window = 0,
    private readonly laneBytes = Infinity,
  ) {
    this.lanes = Array.from({ length: inputs }, () => new ReorderBuffer(window))
    this.heap = new Int32Array(inputs)
    this.headLo = new Uint32Array(inputs)
    this.headHi = new Uint32Array(inputs)
    this.dry = inputs
  }

  /** Feeds the next batch of an input, with the keys of its events. */
  feed(input: number, batch: EventBatch, keys: Uint32Array): void {
    if (batch.count === 0) return
    const lane = this.lanes[input]
    const held = lane.end - lane.at
    const needed = this.laneBytes + lane.strings + ROW_BYTES * held
    if (lane.pinned > PINNED_EVENTS + 2 * held || lane.memory > 2 * needed) this.repack(lane)
    lane.append(this.add(batch, lane), keys, batch.count)
    if (lane.strings > this.laneBytes) this.shrinkWindow(lane)
    this.enter(input, lane)
  }

  /** Marks an input as complete. */
  end(input: number): void {
    const lane = this.lanes[input]
    if (lane.ended) return
    lane.close()
    if (!lane.queued && lane.at === lane.end) this.dry--
    else this.enter(input, lane)
  }

  /** An input that must be fed or ended before `next` can deliver anything; -1 if there is none. */
  wants(): number {
    if (this.dry === 0) return -1
    const { lanes } = this
    for (;;) {
      const lane = lanes[this.wanted]
      if (!lane.queued && !lane.ended) return this.wanted
      this.wanted = (this.wanted + 1) % lanes.length
    }
  }

  /** The next events in order; null when an input is wanted, or at the end. */
  next(header: TraceHeader): EventBatch | null {
    if (this.dry > 0 || this.heapSize === 0) return null
    const used: Source[] = []
    let n = 0
    this.taken = 0
    while (n < BATCH_EVENTS && this.taken <= TAKEN_BYTES && this.dry === 0 && this.heapSize > 0) n = this.take(n, used)
    const batches = used.map(({ batch }) => batch)
    const batch = gatherRows(header, batches, this.from, this.rows, n)
    for (const source of used) this.putBack(source)
    return batch
  }

  /**
   * Takes events of the first lane until another lane has a smaller one.
   * @returns the number of events so far
   */
  private take(n: number, used: Source[]): number {
    const { heap, headLo, headHi, from, rows, keys, sources } = this
    const input = heap[0]
    const lane = this.lanes[input]
    const { lo, hi, row, source, released } = lane
    let { at } = lane
    let strings = 0
    const most = TAKEN_BYTES - this.taken
    // The smallest key of the other lanes.
    let other = -1
    if (this.heapSize > 1) other = heap[this.heapSize > 2 && this.isBefore(heap[2], heap[1]) ? 2 : 1]
    const otherLo = other < 0 ? 0 : headLo[other]
    const otherHi = other < 0 ? 0 : headHi[other]
    for (;;) {
      const origin = sources[source[at]] as Source
      if (origin.place < 0) origin.place = used.push(origin) - 1
      origin.left--
      strings += origin.strings
      from[n] = origin.place
      rows[n] = row[at]
      keys[2 * n + LO] = lo[at]
      keys[2 * n + HI] = hi[at]
      n++
      at++
      if (at === released || n === BATCH_EVENTS || strings > most) break
      if (other >= 0 && (hi[at] - otherHi || lo[at] - otherLo || input - other) > 0) break
    }
    lane.at = at
    // Sums of means are not exact.
    lane.strings = at === lane.end ? 0 : lane.strings - strings
    this.taken += strings
    if (at < released) {
      headLo[input] = lo[at]
      headHi[input] = hi[at]
    } else {
      this.heapSize--
      heap[0] = heap[this.heapSize]
      lane.queued = false
      if (!lane.ended) {
        this.dry++
        this.wanted = input
      }
    }
    this.siftDown()
    return n
  }

  /** Drops a source that was used for a batch if it is exhausted. */
  private putBack(source: Source): void {
    source.place = -1
    if (source.left > 0) return
    source.lane.pinned -= source.batch.count
    source.lane.memory -= source.memory
    this.sources[source.id] = undefined
    this.free.push(source.id)
  }

  private add(batch: EventBatch, lane: ReorderBuffer): number {
    const id = this.free.pop() ?? this.sources.length
    const { count, capacity, columns, groups } = batch
    const strings = batch.strings.memory
    const memory = BATCH_BYTES + capacity * rowLength(columns, groups?.columns) + strings
    this.sources[id] = { id, batch, lane, memory, strings: strings / count, left: count, place: -1 }
    lane.pinned += count
    lane.memory += memory
    lane.strings += strings
    return id
  }

  /**
   * Copies the events of a lane out of large batches of which few events are left. The new batches have few strings, so
   * that the mean reflects the memory of their events.
   */
  private repack(lane: ReorderBuffer): void {
    const { at, end, source, row } = lane
    const n = end - at
    const used: Source[] = []
    const from = new Int32Array(n)
    for (let j = 0; j < n; j++) {
      const origin = this.sources[source[at + j]] as Source
      if (origin.place < 0) origin.place = used.push(origin) - 1
      origin.left--
      from[j] = origin.place
    }
    const batches = used.map((origin) => origin.batch)
    const rows = row.slice(at, end)
    lane.strings = 0
    for (let j = 0, wanted = n; j < n;) {
      const count = Math.min(wanted, n - j)
      const { header } = batches[from[j]]
      const part = gatherRows(header, batches, from.subarray(j, j + count), rows.subarray(j, j + count), count)
      if (count > 1 && part.strings.memory > BATCH_STRING_BYTES) {
        wanted = count >> 1
        continue
      }
      lane.refer(this.add(part, lane), at + j, at + j + count)
      j += count
      wanted = 2 * part.strings.memory > BATCH_STRING_BYTES ? count : 2 * count
    }
    for (const origin of used) this.putBack(origin)
  }

  /** Releases the first events of a window whose strings take too much memory. */
  private shrinkWindow(lane: ReorderBuffer): void {
    const { released, end, source } = lane
    let left = this.laneBytes
    let i = end
    while (i > released && left >= 0) left -= (this.sources[source[--i]] as Source).strings
    if (left < 0) lane.released = i + 1
  }

  /** Adds a lane to the heap if it has an event to deliver and is not in the heap yet. */
  private enter(input: number, lane: ReorderBuffer): void {
    if (lane.queued || lane.at === lane.released) return
    lane.queued = true
    this.dry--
    const { heap, headLo, headHi } = this
    headLo[input] = lane.lo[lane.at]
    headHi[input] = lane.hi[lane.at]
    let i = this.heapSize++
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (this.isBefore(heap[parent], input)) break
      heap[i] = heap[parent]
      i = parent
    }
    heap[i] = input
  }

  private siftDown(): void {
    const { heap, heapSize } = this
    const input = heap[0]
    let i = 0
    for (;;) {
      let child = 2 * i + 1
      if (child >= heapSize) break
      if (child + 1 < heapSize && this.isBefore(heap[child + 1], heap[child])) child++
      if (this.isBefore(input, heap[child])) break
      heap[i] = heap[child]
      i = child
    }
    heap[i] = input
  }

  /** Whether the first event of lane a precedes lane b's. */
  private isBefore(a: number, b: number): boolean {
    const { headLo, headHi } = this
    return (headHi[a] - headHi[b] || headLo[a] - headLo[b] || a - b) < 0
  }
}
