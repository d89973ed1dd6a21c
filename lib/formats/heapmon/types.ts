import { CR, LF, SPACE, TAB } from '../../text/ascii.js'
import { NOTYPE, NOVTBL } from './layout.js'

const LETTER_N = 0x6e

/**
 * The end of the type that starts at `start`, and of its column.
 * @param wide whether more than one space, or a tab, separates the columns before it; a type can then contain single
 *   spaces
 * @returns the position of a space, a tab or the line feed
 */
export function typeEnd(bytes: Uint8Array, start: number, wide: boolean): number {
  let p = start
  if (bytes[p] === LETTER_N && (isWord(bytes, p, NOVTBL) || isWord(bytes, p, NOTYPE))) return p + NOVTBL.length
  for (;;) {
    const c = bytes[p]
    if (c === LF || c === TAB) return p
    if (c === SPACE) {
      const next = bytes[p + 1]
      if (!wide || next === SPACE || next === TAB || next === LF) return p
    }
    p++
  }
}

/** The end of a type's text whose column ends at `end`: without the carriage return and spaces at the end of a line. */
export function typeTextEnd(bytes: Uint8Array, start: number, end: number): number {
  while (end > start && (bytes[end - 1] === CR || bytes[end - 1] === SPACE)) end--
  return end
}

/** Whether the type in `bytes[start..end)` is the word for "no type". */
export function isNovtbl(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] !== LETTER_N || end - start !== NOVTBL.length) return false
  for (let i = 1; i < NOVTBL.length; i++) if (bytes[start + i] !== NOVTBL[i]) return false
  return true
}

/** Whether one of the format's own words is at this position, followed by a space or the end of the line. */
function isWord(bytes: Uint8Array, p: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[p + i] !== word[i]) return false
  const after = bytes[p + word.length]
  return after === SPACE || after === TAB || after === LF
}
