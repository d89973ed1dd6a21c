import * as Line from '../../kernel/layouts/heaptrack.js'
import { doubleAt, HI, LO, WORD } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { fieldSet, Kind } from '../../event/fields.js'
import type { HeaptrackKernel } from './kernel.js'
import { Code, DEFAULT_PAGE_SIZE, MAX_MILLISECONDS } from './layout.js'
import { u64 } from './modules.js'

const { comment: COMMENT, other: OTHER } = Kind
const RARE = fieldSet('text', 'code', 'present')
const REMARK = fieldSet('time', 'text')
const TICK = fieldSet('time', 'code')
const RESIDENT = fieldSet('time', 'code', 'present')

/** The time of a file, and the events of lines that do not concern a block. */
export class OtherEvents {
  /** The size of a page in bytes. */
  pageSize = DEFAULT_PAGE_SIZE
  /** The time in microseconds, as words. */
  readonly time = new Uint32Array(2)
  /** Whether the time was read, and no event since. */
  isUnsaid = false
  private milliseconds = 0

  /** Sets the time of events `from` to `to`. */
  fillTimes(times: Uint32Array, from: number, to: number): void {
    const lo = this.time[LO]
    const hi = this.time[HI]
    for (let i = from; i < to; i++) {
      times[2 * i + LO] = lo
      times[2 * i + HI] = hi
    }
  }

  /** Whether a time in milliseconds is later than the current one, and not too large. */
  isLater(lo: number, hi: number): boolean {
    const value = hi * WORD + lo
    return value > this.milliseconds && value <= MAX_MILLISECONDS
  }

  setTime(milliseconds: number): void {
    this.milliseconds = milliseconds
    this.time[LO] = (milliseconds * 1000) >>> 0
    this.time[HI] = Math.floor((milliseconds * 1000) / WORD)
  }

  /** Stores the time as event i: a line with a time that no event follows is an event. */
  tick(batch: EventBatch, i: number): void {
    this.isUnsaid = false
    batch.addColumns(RARE)
    batch.kind[i] = OTHER
    batch.mask[i] = TICK
    batch.code[i] = Code.time
    batch.time.words[2 * i + LO] = this.time[LO]
    batch.time.words[2 * i + HI] = this.time[HI]
  }

  /**
   * Reads a repeated time, or the number of resident pages, as event i.
   * @returns whether the number is one of these
   */
  number(batch: EventBatch, i: number, { operation, first }: HeaptrackKernel, row: number): boolean {
    batch.addColumns(RARE)
    batch.kind[i] = OTHER
    if (operation[row] === Line.TIME) {
      const value = doubleAt(first, row)
      if (value !== this.milliseconds) return false
      this.tick(batch, i)
      return true
    }
    const bytes = u64(first, 2 * row) * BigInt(this.pageSize)
    if (bytes >= 2n ** 64n) return false
    batch.code[i] = Code.resident
    batch.present.values[i] = bytes
    batch.mask[i] = RESIDENT
    return true
  }

  /** Reads a line as event i, a comment. */
  comment(batch: EventBatch, i: number, line: Uint8Array): void {
    this.isUnsaid = false
    batch.addColumns(RARE)
    batch.kind[i] = COMMENT
    batch.mask[i] = REMARK
    batch.text[i] = batch.strings.intern(line)
    batch.time.words[2 * i + LO] = this.time[LO]
    batch.time.words[2 * i + HI] = this.time[HI]
  }
}
