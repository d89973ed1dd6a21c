import { HI, LO } from '../bytes/u64.js'

/**
 * The events of one input of a merge that have not been delivered, in columns: key, batch and row. The events in `[at,
 * released)` can be delivered. The last `window` events or fewer, `[released, end)`, are sorted by key, and late events
 * are still inserted among them.
 */
export class ReorderBuffer {
  lo = new Uint32Array(0)
  hi = new Uint32Array(0)
  /** The number of the event's batch. */
  source = new Int32Array(0)
  /** Its row in that batch. */
  row = new Int32Array(0)
  at = 0
  released = 0
  end = 0
  /** No more events will arrive. */
  ended = false
  /** Whether the lane is in the heap. */
  queued = false
  /** The number of events in all batches that its events belong to. */
  pinned = 0
  /** The memory of these batches in bytes. */
  memory = 0
  /** The number of these bytes that are strings of its own events. */
  strings = 0

  constructor(private readonly window: number) {}

  /** Adds the events of a batch, with their keys as pairs of words. */
  append(source: number, keys: Uint32Array, count: number): void {
    this.makeRoom(count)
    const { lo, hi, source: sources, row, window } = this
    let { released, end } = this
    for (let i = 0; i < count; i++) {
      const keyLo = keys[2 * i + LO]
      const keyHi = keys[2 * i + HI]
      let place = end
      if (end > released && (hi[end - 1] - keyHi || lo[end - 1] - keyLo) > 0) {
        place = this.placeOf(keyLo, keyHi, released, end)
        this.shift(place, end)
      }
      lo[place] = keyLo
      hi[place] = keyHi
      sources[place] = source
      row[place] = i
      end++
      if (end - released > window) released++
    }
    this.released = released
    this.end = end
  }

  /** Releases all events, because no more will arrive. */
  close(): void {
    this.ended = true
    this.released = this.end
  }

  /** Makes events `[from, to)` refer to the rows of one batch, in the same order. */
  refer(source: number, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      this.source[i] = source
      this.row[i] = i - from
    }
  }

  /** The position in the sorted range `[from, to)` after all events whose keys are not greater. */
  private placeOf(keyLo: number, keyHi: number, from: number, to: number): number {
    const { lo, hi } = this
    while (from < to) {
      const middle = (from + to) >> 1
      if ((hi[middle] - keyHi || lo[middle] - keyLo) > 0) to = middle
      else from = middle + 1
    }
    return from
  }

  /** Moves the events of `[place, end)` up by one. */
  private shift(place: number, end: number): void {
    this.lo.copyWithin(place + 1, place, end)
    this.hi.copyWithin(place + 1, place, end)
    this.source.copyWithin(place + 1, place, end)
    this.row.copyWithin(place + 1, place, end)
  }

  /** Compacts the columns and makes room for `count` more events. */
  private makeRoom(count: number): void {
    const { at, end } = this
    const held = end - at
    const isTooSmall = held + count > this.lo.length
    // Batches differ in size; a slightly larger one must not force a new allocation each time.
    const room = Math.ceil((held + count) * 1.25)
    this.lo = moveToFront(this.lo, isTooSmall ? new Uint32Array(room) : this.lo, at, end)
    this.hi = moveToFront(this.hi, isTooSmall ? new Uint32Array(room) : this.hi, at, end)
    this.source = moveToFront(this.source, isTooSmall ? new Int32Array(room) : this.source, at, end)
    this.row = moveToFront(this.row, isTooSmall ? new Int32Array(room) : this.row, at, end)
    this.at = 0
    this.released -= at
    this.end = held
  }
}

/** Copies `[at, end)` of a column to the start of another column, or of the same one. */
function moveToFront<Column extends Uint32Array | Int32Array>(
  from: Column,
  to: Column,
  at: number,
  end: number,
): Column {
  to.set(from.subarray(at, end))
  return to
}
