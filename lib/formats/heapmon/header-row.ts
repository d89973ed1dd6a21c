import { ascii, CR, LF, SPACE, TAB } from '../../text/ascii.js'
import { MAX_INDENT, COLUMN_HEADINGS, type HeapmonLayout } from './layout.js'

const WORDS = COLUMN_HEADINGS.flatMap((title) => title.split(' ')).map(ascii)

/** The first byte of the header row, which no other line starts with. */
export const HEADER_ROW_START = 0x54

/**
 * Reads the header row, with any spaces and tabs between its words, up to the line feed.
 * @returns the line feed's position, or `~position` of the first byte that does not match
 */
export function headerRowEnd(bytes: Uint8Array, p: number): number {
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

/** The position after a word, or `~position` of the first byte that differs. */
export function wordEnd(bytes: Uint8Array, p: number, word: Uint8Array): number {
  for (let i = 0; i < word.length; i++, p++) if (bytes[p] !== word[i]) return ~p
  return p
}

/** The layout of the line that starts at `start`, which need not be valid. */
export function layoutOfLine(bytes: Uint8Array, start: number, headerRow: boolean): HeapmonLayout {
  let p = start
  while (bytes[p] === SPACE) p++
  const indent = p - start <= MAX_INDENT && bytes[p] !== TAB ? p - start : 0
  p = skipBlanks(bytes, p)
  while (bytes[p] !== SPACE && bytes[p] !== TAB && bytes[p] !== LF) p++
  return { headerRow, separator: bytes[p] === SPACE ? 'spaces' : 'tab', indent }
}

function skipBlanks(bytes: Uint8Array, p: number): number {
  while (bytes[p] === SPACE || bytes[p] === TAB) p++
  return p
}
