import { CR, LF, SPACE, TAB } from '../../text/ascii.js'
import type { Sink } from '../../bytes/sink.js'
import { hexValue } from '../../bytes/u64.js'
import { FIELDS } from '../../event/fields.js'
import type { Leaf } from '../model.js'
import { fieldNamed } from '../names.js'

/*
 * The words of a line besides numbers: quoted strings. As in `lib/text/numbers.ts`, readers return the position after
 * the word, or `~position` of the byte that does not match, and a line feed stops them all.
 */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LETTER_X = 0x78
const DELETE = 0x7f

/** The bytes for letters after a backslash, and the reverse. */
const ESCAPED: Readonly<Record<number, number>> = {
  [QUOTE]: QUOTE,
  [BACKSLASH]: BACKSLASH,
  0x6e: LF,
  0x72: CR,
  0x74: TAB,
}
const LETTERS: Readonly<Record<number, number>> = {
  [QUOTE]: QUOTE,
  [BACKSLASH]: BACKSLASH,
  [LF]: 0x6e,
  [CR]: 0x72,
  [TAB]: 0x74,
}

/** Skips spaces and a carriage return to the line feed; otherwise `~position` of the first other byte. */
export function lineEnd(bytes: Uint8Array, p: number): number {
  let c = bytes[p]
  while (c === SPACE || c === TAB) c = bytes[++p]
  if (c === CR) c = bytes[++p]
  return c === LF ? p : ~p
}

/** Reads a string in quotes, and appends its bytes to `out`. */
export function quoted(bytes: Uint8Array, p: number, out: Sink): number {
  if (bytes[p] !== QUOTE) return ~p
  p++
  for (;;) {
    const c = bytes[p]
    if (c === QUOTE) return p + 1
    if (c === LF) return ~p
    out.reserve(1)
    if (c !== BACKSLASH) {
      out.bytes[out.pos++] = c
      p++
    } else if (bytes[p + 1] === LETTER_X) {
      const high = hexValue(bytes[p + 2])
      const low = high < 0 ? -1 : hexValue(bytes[p + 3])
      if (low < 0) return ~(high < 0 ? p + 2 : p + 3)
      out.bytes[out.pos++] = 16 * high + low
      p += 4
    } else {
      const byte = ESCAPED[bytes[p + 1]]
      if (byte === undefined) return ~(p + 1)
      out.bytes[out.pos++] = byte
      p += 2
    }
  }
}

const HEX = '0123456789abcdef'

/**
 * Writes a string in quotes: control characters as `\n`, `\r`, `\t` or `\xNN`, quotes and backslashes with a backslash,
 * all other bytes unchanged.
 */
export function writeQuoted(out: Sink, text: Uint8Array): void {
  out.reserve(4 * text.length + 2)
  const { bytes } = out
  let p = out.pos
  bytes[p++] = QUOTE
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    const letter = LETTERS[c]
    if (letter !== undefined) {
      bytes[p++] = BACKSLASH
      bytes[p++] = letter
    } else if (c < SPACE || c === DELETE) {
      bytes[p++] = BACKSLASH
      bytes[p++] = LETTER_X
      bytes[p++] = HEX.charCodeAt(c >> 4)
      bytes[p++] = HEX.charCodeAt(c & 15)
    } else {
      bytes[p++] = c
    }
  }
  bytes[p++] = QUOTE
  out.pos = p
}

/** Whether a number is written in hex: it has the name of an address, and is not stored as a difference. */
export function isHex({ name, interpretation }: Leaf): boolean {
  const field = fieldNamed(name)
  return interpretation.kind === 'none' && FIELDS.find((known) => known.name === field)?.type === 'address'
}

/** Whether a leaf takes a word in the line. */
export function isStored({ interpretation: { kind } }: Leaf): boolean {
  return kind !== 'default' && kind !== 'stride'
}
