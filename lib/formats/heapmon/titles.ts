import { ascii, CR, LF, SPACE, TAB } from '../../bytes/ascii.js'
import { MAX_INDENT, TITLES, type HeapmonLayout } from './layout.js'

const WORDS = TITLES.flatMap((title) => title.split(' ')).map(ascii)

/** What the line of titles begins with, and no other line. */
export const FIRST_OF_TITLES = 0x54

/**
 * Reads the column titles, with any blanks and tabs between their words, to the line feed.
 * @returns the line feed's position, or `~position` of the first byte that does not fit
 */
export function titlesEnd(bytes: Uint8Array, p: number): number {
  for (const [i, word] of WORDS.entries()) {
    if (i > 0 && bytes[p] !== SPACE && bytes[p] !== TAB) return ~p
    p = skipBlanks(bytes, p)
    p = wordEnd(bytes, p, word)
    if (p < 0) return p
  }
  p = skipBlanks(bytes, p)
  if (bytes[p] === CR) p++
  return bytes[p] === LF ? p : ~p
}

/** The position behind a word; if something else stands there, `~position` of the first byte that differs. */
export function wordEnd(bytes: Uint8Array, p: number, word: Uint8Array): number {
  for (let i = 0; i < word.length; i++, p++) if (bytes[p] !== word[i]) return ~p
  return p
}

/** How the line that begins at `start` looks; it need not be a valid one. */
export function layoutOfLine(bytes: Uint8Array, start: number, titles: boolean): HeapmonLayout {
  let p = start
  while (bytes[p] === SPACE) p++
  const indent = p - start <= MAX_INDENT && bytes[p] !== TAB ? p - start : 0
  p = skipBlanks(bytes, p)
  while (bytes[p] !== SPACE && bytes[p] !== TAB && bytes[p] !== LF) p++
  return { titles, separator: bytes[p] === SPACE ? 'blanks' : 'tab', indent }
}

function skipBlanks(bytes: Uint8Array, p: number): number {
  while (bytes[p] === SPACE || bytes[p] === TAB) p++
  return p
}
