import { HI, LO, numberAt, WORD } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import { BlockFate } from '../../blocks/block-fates.js'
import type { Sum } from '../statistics/sums.js'
import { ENDINGS, RowBit, type BlockRows } from './columns.js'
import type { Origins } from './origins.js'
import { Place, RECORD } from './place.js'
import * as Word from './words.js'

/** The bits of columns that not all rows have. */
const {
  until: UNTIL_BIT,
  endApi: END_API_BIT,
  endThread: END_THREAD_BIT,
  endTime: END_TIME_BIT,
  lifetime: LIFETIME_BIT,
  lifetimeBytes: LIFETIME_BYTES_BIT,
  lifetimeEvents: LIFETIME_EVENTS_BIT,
  peakEvent: PEAK_EVENT_BIT,
  peakSize: PEAK_SIZE_BIT,
  sinceTime: SINCE_TIME_BIT,
  stack: STACK_BIT,
  stackId: STACK_ID_BIT,
  temporary: TEMPORARY_BIT,
  temporaryMemray: TEMPORARY_MEMRAY_BIT,
  time: TIME_BIT,
  timeUnit: TIME_UNIT_BIT,
} = RowBit
const { time: HAS_TIME, api: HAS_API, thread: HAS_THREAD } = FieldBit
export const [FREE, REALLOC, RESIZE, OVERLAP, LIVE] = ENDINGS.map((_, code) => code) as [
  number,
  number,
  number,
  number,
  number,
]
const ALL_BITS = 0xffff_ffff

/** The position of the table in the stream. */
export interface StreamMoment {
  trace: number
  /** The code of its unit of time, -1 if it has none. */
  unit: number
  /** Whether the trace says which block is freed. */
  isIdentified: boolean
  /** The number of the current event, and the number of events about blocks until then. */
  event: number
  blockEvents: number
  /** The event of the last maximum of live bytes. */
  peak: number
  /** The fate of the block that the current event ends: `BlockFate` bits. */
  fate: number
  /** The total number of bytes allocated. */
  readonly allocated: Sum
}

/** Makes a row from the data of a live block. */
export class RowWriter {
  constructor(
    private readonly rows: BlockRows,
    private readonly origins: Origins,
    private readonly moment: StreamMoment,
  ) {}

  /**
   * Writes the row of a block.
   * @param words of all live blocks
   * @param ending its code
   * @param batch the batch whose event i ends the block, its current size, or its process; none at the end of a trace
   */
  write(words: Uint32Array, block: number, ending: number, batch?: EventBatch, i = 0): void {
    const { rows, origins, moment } = this
    const row = rows.count++
    const at = block * Word.WIDTH
    const flags = words[at + Word.FLAGS]
    let mask = flags & Word.ROW_BITS
    rows.trace[row] = moment.trace
    rows.ending[row] = ending
    rows.reallocs[row] = words[at + Word.REALLOCS]
    rows.api[row] = words[at + Word.API]
    Word.put(rows.birth, row, words, at + Word.BIRTH)
    Word.put(rows.since, row, words, at + Word.SINCE)
    Word.put(rows.process, row, words, at + Word.PROCESS)
    Word.put(rows.thread, row, words, at + Word.THREAD)
    Word.put(rows.address, row, words, at + Word.ADDRESS)
    Word.put(rows.firstSize, row, words, at + Word.FIRST_SIZE)
    Word.put(rows.size, row, words, at + Word.SIZE)
    Word.put(rows.time, row, words, at + Word.TIME)
    Word.put(rows.sinceTime, row, words, at + Word.SINCE_TIME)
    const record = words[at + Word.SITE] * RECORD
    const { records } = origins
    mask |= records[record + Place.rowMask]
    rows.site[row] = records[record + Place.site]
    rows.frame[row] = records[record + Place.frame]
    const stack = records[record + Place.stack]
    rows.stack[row] = stack
    if ((mask & STACK_BIT) !== 0) {
      const number = origins.stackNumber(stack)
      rows.stackId[row] = number
      if (number !== 0) mask |= STACK_ID_BIT
    }
    rows.function[row] = records[record + Place.rowFunction]
    rows.file[row] = records[record + Place.rowFile]
    rows.line[row] = records[record + Place.rowLine]
    rows.module[row] = records[record + Place.rowModule]
    rows.type[row] = records[record + Place.type]
    rows.callSite.words[2 * row + LO] = records[record + Place.lo]
    rows.callSite.words[2 * row + HI] = records[record + Place.hi]
    const since = numberAt(words, at + Word.SINCE)
    if (since <= moment.peak) {
      mask |= PEAK_EVENT_BIT | PEAK_SIZE_BIT
      Word.putNumber(rows.peakEvent, row, moment.peak)
      Word.put(rows.peakSize, row, words, at + Word.SIZE)
    } else if ((flags & Word.AT_PEAK) !== 0) {
      mask |= PEAK_EVENT_BIT | PEAK_SIZE_BIT
      Word.put(rows.peakEvent, row, words, at + Word.PEAK)
      Word.put(rows.peakSize, row, words, at + Word.PEAK_SIZE)
    }
    rows.temporary[row] = rows.temporaryMemray[row] = 0
    if (moment.isIdentified) mask |= TEMPORARY_BIT | TEMPORARY_MEMRAY_BIT
    if (batch !== undefined) {
      mask |= this.writeEnd(row, batch, i)
      if (ending !== OVERLAP && ending !== LIVE) {
        mask |= this.writeCaller(row, batch, i)
        rows.temporary[row] = (moment.fate & BlockFate.byHeaptrack) === 0 ? 0 : 1
        rows.temporaryMemray[row] = (moment.fate & BlockFate.byMemray) === 0 ? 0 : 1
        const hasLifetime = ending !== RESIZE && moment.isIdentified && (flags & Word.UNBORN) === 0
        if (hasLifetime) mask |= this.writeLifetime(words, row, at, mask)
      }
    }
    if (moment.unit >= 0 && (mask & (TIME_BIT | SINCE_TIME_BIT | END_TIME_BIT)) !== 0) {
      mask |= TIME_UNIT_BIT
      rows.timeUnit[row] = moment.unit
    }
    rows.mask[row] = mask
  }

  /** Writes the end of a row, at the current event. @returns the columns */
  private writeEnd(row: number, batch: EventBatch, i: number): number {
    Word.putNumber(this.rows.until, row, this.moment.event)
    if ((batch.mask[i] & HAS_TIME) === 0) return UNTIL_BIT
    this.rows.endTime.words.set(batch.time.words.subarray(2 * i, 2 * i + 2), 2 * row)
    return UNTIL_BIT | END_TIME_BIT
  }

  /** Writes the event that ended it. @returns the columns */
  private writeCaller(row: number, batch: EventBatch, i: number): number {
    const { rows } = this
    const mask = batch.mask[i]
    let columns = 0
    if ((mask & HAS_API) !== 0) {
      columns |= END_API_BIT
      rows.endApi[row] = batch.api[i]
    }
    if ((mask & HAS_THREAD) !== 0) {
      columns |= END_THREAD_BIT
      const { words } = batch.thread
      rows.endThread.words[2 * row] = words[2 * i]
      rows.endThread.words[2 * row + 1] = words[2 * i + 1]
    }
    return columns
  }

  /** Writes the lifetime of a block that the current event frees. @returns the columns */
  private writeLifetime(words: Uint32Array, row: number, at: number, mask: number): number {
    const { rows } = this
    const { allocated, blockEvents } = this.moment
    Word.putNumber(rows.lifetimeEvents, row, blockEvents - numberAt(words, at + Word.NUMBER))
    const lo = allocated.lo - words[at + Word.CLOCK]
    const hi = allocated.hi - numberAt(words, at + Word.CLOCK + 1) - (lo < 0 ? 1 : 0)
    const isTooLong = hi >= WORD
    rows.lifetimeBytes.words[2 * row + LO] = isTooLong ? ALL_BITS : lo
    rows.lifetimeBytes.words[2 * row + HI] = isTooLong ? ALL_BITS : hi
    const columns = LIFETIME_EVENTS_BIT | LIFETIME_BYTES_BIT
    if ((mask & TIME_BIT) === 0 || (mask & END_TIME_BIT) === 0) return columns
    const end = rows.endTime.words
    const endHi = end[2 * row + HI]
    const timeLo = end[2 * row + LO] - words[at + Word.TIME]
    const timeHi = endHi - words[at + Word.TIME + 1] - (timeLo < 0 ? 1 : 0)
    // If time runs backwards, there is no lifetime.
    if (timeHi < 0) return columns
    rows.lifetime.words[2 * row + LO] = timeLo
    rows.lifetime.words[2 * row + HI] = timeHi
    return columns | LIFETIME_BIT
  }
}
