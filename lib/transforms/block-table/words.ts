import { HI, LO, WORD } from '../../bytes/u64.js'
import type { U64Column } from '../../event/batch.js'
import { RowBit } from './columns.js'

/**
 * The layout of a live block's words. Numbers of events, times, sizes and similar values take two words, the clock of
 * allocated bytes three.
 */
export const [BIRTH, SINCE, NUMBER, CLOCK, TIME, SINCE_TIME, SIZE, FIRST_SIZE, ADDRESS] = [
  0, 2, 4, 6, 9, 11, 13, 15, 17,
]
export const [PROCESS, THREAD, PEAK, PEAK_SIZE, REALLOCS, SITE, API, FLAGS] = [19, 21, 23, 25, 27, 28, 29, 30]
export const WIDTH = 31
/** Bits of the flags in addition to a row's mask: the block is live; it was live at `PEAK`. */
export const ALIVE = 0x8000_0000
export const AT_PEAK = 0x2000_0000
/** The block existed before, so its lifetime is unknown. */
export const UNBORN = 0x1000_0000
export const ROW_BITS = 0x0fff_ffff
/** The fields of a block that a realloc sets or makes unknown. */
export const OF_LAST = RowBit.process | RowBit.thread | RowBit.api | RowBit.size | RowBit.sinceTime

/** Copies a value of a column to words. */
export function copy(words: Uint32Array, at: number, column: U64Column, i: number): void {
  words[at] = column.words[2 * i + LO]
  words[at + 1] = column.words[2 * i + HI]
}

/** Copies words to a column. */
export function put(column: U64Column, row: number, words: Uint32Array, at: number): void {
  column.words[2 * row + LO] = words[at]
  column.words[2 * row + HI] = words[at + 1]
}

/** Writes a number of an event to a column. */
export function putNumber(column: U64Column, row: number, number: number): void {
  column.words[2 * row + LO] = number >>> 0
  column.words[2 * row + HI] = Math.floor(number / WORD)
}
