import { widened } from '../bytes/widened.js'
import { BatchArena } from '../event/arena.js'
import { BATCH_EVENTS, BATCH_STRING_BYTES, type EventBatch } from '../event/batch.js'
import { gatherRows } from '../event/gather.js'
import type { TraceHeader } from '../event/header.js'
import { NaturalMergeSort } from './natural-merge-sort.js'

/** The memory of an event besides its batch: its key, the number of its batch, and its place in the order. */
const EVENT_BYTES = 22

/** A batch whose strings and lists take more memory than this is too large. */
const STRING_MEMORY = 2 * BATCH_STRING_BYTES

/** A batch, and the keys of its events as pairs of words. */
export interface KeyedBatch {
  batch: EventBatch
  keys: Uint32Array
}

/** Events held back to be sorted by their keys. */
export class SortBuffer {
  /** The number of events. */
  count = 0
  /** The memory of the strings of their batches. */
  private strings = 0
  private arena = new BatchArena()
  private order = new NaturalMergeSort()
  private batches: EventBatch[] = []
  /** The number of the first event of each batch. */
  private starts: number[] = []
  private keys = new Uint32Array(0)
  /** The batch of each event. */
  private batchOf = new Int32Array(0)

  /** The approximate memory that the events take, including the memory needed to sort them. */
  get bytes(): number {
    return this.arena.bytes + EVENT_BYTES * this.count
  }

  /** Adds a batch, and the keys of its events as pairs of words. */
  add(batch: EventBatch, keys: Uint32Array): void {
    const { count } = this
    const end = count + batch.count
    this.makeRoom(end)
    this.keys.set(keys.subarray(0, 2 * batch.count), 2 * count)
    this.batchOf.fill(this.batches.length, count, end)
    this.batches.push(this.arena.copy(batch))
    this.starts.push(count)
    this.strings += batch.strings.memory
    this.count = end
  }

  /** Removes all events. Their memory is reused. */
  clear(): void {
    this.arena.clear()
    this.count = 0
    this.strings = 0
    this.batches = []
    this.starts = []
  }

  /** Removes all events and frees their memory. */
  release(): void {
    this.arena = new BatchArena()
    this.order = new NaturalMergeSort()
    this.keys = new Uint32Array(0)
    this.batchOf = new Int32Array(0)
    this.clear()
  }

  /** The events in order, with their keys, in batches of at most `size`. */
  *inOrder(header: TraceHeader, size: number): Generator<KeyedBatch> {
    const order = this.order.of(this.keys, this.count)
    // A batch that is gathered and then discarded costs time, so the first guess should be close.
    let wanted = Math.min(size, Math.max(1, Math.floor((STRING_MEMORY / this.strings) * this.count)))
    for (let at = 0; at < order.length;) {
      let part = this.gather(header, order.subarray(at, at + wanted))
      while (part.batch.count > 1 && isTooLarge(part.batch))
        part = this.gather(header, order.subarray(at, at + (part.batch.count >> 1)))
      yield part
      const { count, strings } = part.batch
      at += count
      wanted = 2 * strings.memory > STRING_MEMORY ? count : Math.min(size, 2 * count)
    }
  }

  private gather(header: TraceHeader, order: Int32Array): KeyedBatch {
    const n = order.length
    const { batchOf, starts } = this
    const places = new Int32Array(this.batches.length).fill(-1)
    const used: EventBatch[] = []
    const from = new Int32Array(n)
    const rows = new Int32Array(n)
    const keys = new Uint32Array(2 * n)
    for (let j = 0; j < n; j++) {
      const event = order[j]
      const b = batchOf[event]
      if (places[b] === -1) places[b] = used.push(this.batches[b]) - 1
      from[j] = places[b]
      rows[j] = event - starts[b]
      keys[2 * j] = this.keys[2 * event]
      keys[2 * j + 1] = this.keys[2 * event + 1]
    }
    return { batch: gatherRows(header, used, from, rows, n), keys }
  }

  private makeRoom(count: number): void {
    if (count <= this.batchOf.length) return
    const room = Math.max(count, BATCH_EVENTS, Math.ceil(this.batchOf.length * 1.5))
    this.keys = widened(this.keys, 2 * room)
    this.batchOf = widened(this.batchOf, room)
  }
}

function isTooLarge({ strings }: EventBatch): boolean {
  return strings.byteLength > BATCH_STRING_BYTES || strings.memory > STRING_MEMORY
}
