import { HI, LO } from '../../bytes/u64.js'
import { Sink } from '../../bytes/sink.js'
import type { U64Column } from '../../event/batch.js'

/** What `Records.given` says: the record's thread, heap or time is that of an event, not a zero in the place of one. */
export const Given = { thread: 1, heap: 2, time: 4 } as const

/**
 * HATF records of a block of events before they have a layout, in columns: what planners look at and the writer writes.
 * The 64-bit columns are word pairs (see `LO` and `HI`). Metadata records are not among them: those are the planner's.
 * All arrays are used again for the next block.
 */
export class Records {
  /** How many records there are. */
  count = 0
  tag = new Uint8Array(0)
  /** Which of thread, heap and time an event has: bits of `Given`. */
  given = new Uint8Array(0)
  size = new Uint32Array(0)
  /** The one address, or the new address of a realloc. */
  address = new Uint32Array(0)
  oldAddress = new Uint32Array(0)
  thread = new Uint32Array(0)
  heap = new Uint32Array(0)
  time = new Uint32Array(0)
  /** Attributes and comments: record r has `data.bytes[dataEnd[r - 1]..dataEnd[r])`, the first one begins at 0. */
  readonly data = new Sink()
  dataEnd = new Uint32Array(0)

  /** Forgets all records and makes room for `n`. */
  reset(n: number): void {
    this.count = 0
    this.data.pos = 0
    if (this.tag.length >= n) return
    this.tag = new Uint8Array(n)
    this.given = new Uint8Array(n)
    this.size = new Uint32Array(2 * n)
    this.address = new Uint32Array(2 * n)
    this.oldAddress = new Uint32Array(2 * n)
    this.thread = new Uint32Array(2 * n)
    this.heap = new Uint32Array(2 * n)
    this.time = new Uint32Array(2 * n)
    this.dataEnd = new Uint32Array(n)
  }

  /** Where the data of record r begins in `data.bytes`. */
  dataStart(r: number): number {
    return r === 0 ? 0 : (this.dataEnd[r - 1] as number)
  }
}

/** Copies row `i` of a column to record `r`, or stores 0 there. */
export function copyWords(to: Uint32Array, r: number, column: U64Column, i: number, present: boolean): void {
  to[2 * r + LO] = present ? (column.words[2 * i + LO] as number) : 0
  to[2 * r + HI] = present ? (column.words[2 * i + HI] as number) : 0
}
