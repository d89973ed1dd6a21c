import * as Code from '../../../lib/kernel/layouts/hatf.js'
import { HI, LO } from '../../../lib/bytes/u64.js'
import { Sink } from '../../../lib/bytes/sink.js'
import type { U64Column } from '../../../lib/event/batch.js'

/** What `Records.given` says: the record's thread, heap or time is that of an event, not a zero in the place of one. */
export const Given = { thread: 1, heap: 2, time: 4 } as const

/**
 * HATF records of a block of events before they have a layout, in columns: what planners look at and the writer writes.
 * The 64-bit columns are word pairs (see `LO` and `HI`). Metadata records are not among them: those are the planner's.
 * All arrays are used again for the next block, and may be replaced when room is made.
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

  /** Forgets all records. */
  clear(): void {
    this.count = 0
    this.data.pos = 0
  }

  /** Makes room for `n` more records. */
  reserve(n: number): void {
    const { length } = this.tag
    const wanted = this.count + n
    if (length >= wanted) return
    const room = Math.max(wanted, 2 * length)
    this.tag = grown(this.tag, new Uint8Array(room))
    this.given = grown(this.given, new Uint8Array(room))
    this.size = grown(this.size, new Uint32Array(2 * room))
    this.address = grown(this.address, new Uint32Array(2 * room))
    this.oldAddress = grown(this.oldAddress, new Uint32Array(2 * room))
    this.thread = grown(this.thread, new Uint32Array(2 * room))
    this.heap = grown(this.heap, new Uint32Array(2 * room))
    this.time = grown(this.time, new Uint32Array(2 * room))
    this.dataEnd = grown(this.dataEnd, new Uint32Array(room))
  }

  /** Adds a comment record. */
  addComment(text: Uint8Array): void {
    this.reserve(1)
    const r = this.count++
    this.tag[r] = Code.TAG_COMMENT
    this.given[r] = 0
    const columns = [this.size, this.address, this.oldAddress, this.thread, this.heap, this.time]
    for (const words of columns) words.fill(0, 2 * r, 2 * r + 2)
    this.data.append(text)
    this.dataEnd[r] = this.data.pos
  }

  /** Where the data of record r begins in `data.bytes`. */
  dataStart(r: number): number {
    return r === 0 ? 0 : this.dataEnd[r - 1]
  }
}

/** Copies row `i` of a column to record `r`, or stores 0 there. */
export function copyWords(to: Uint32Array, r: number, column: U64Column, i: number, present: boolean): void {
  to[2 * r + LO] = present ? column.words[2 * i + LO] : 0
  to[2 * r + HI] = present ? column.words[2 * i + HI] : 0
}

function grown<Words extends Uint8Array | Uint32Array>(from: Words, to: Words): Words {
  to.set(from)
  return to
}
