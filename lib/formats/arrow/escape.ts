import type { FlatStrings } from '../../event/strings.js'
import { decodeText, encodeText } from '../../event/strings.js'

/*
 * Strings in Arrow are UTF-8. Names in traces may have bytes that are not. Byte 0xNN of these becomes the character
 * U+10FENN, which is for private use. A name that has a character from U+10FE80 to U+10FEFF itself has its four bytes
 * written in this way, so every name comes back as it was.
 */

/** The character that would stand for byte 0. */
const ESCAPED = 0x10_fe00
/** The first bytes of all these characters in UTF-8; 0xba or 0xbb follows. */
const BEGIN = Buffer.from([0xf4, 0x8f])
const THIRD = [0xba, 0xbb]

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Strings without gaps: bytes, and where each string begins and the last one ends. */
export type Strings = Pick<FlatStrings, 'bytes' | 'starts'>

/** The same strings in UTF-8. */
export function escape(strings: Strings): Strings {
  return isWhole(strings) && !hasEscapes(strings.bytes) ? strings : mapped(strings, escapeOne)
}

/** The strings that were passed to `escape`. Other strings remain unchanged, even if they are not UTF-8. */
export function unescape(strings: Strings): Strings {
  return hasEscapes(strings.bytes) ? mapped(strings, unescapeOne) : strings
}

/** Whether each string is UTF-8: the concatenation is, and no string begins within a character. */
function isWhole({ bytes, starts }: Strings): boolean {
  try {
    strict.decode(bytes)
  } catch {
    return false
  }
  for (let i = 0; i < starts.length - 1; i++) if ((bytes[starts[i]] & 0xc0) === 0x80) return false
  return true
}

function hasEscapes(bytes: Uint8Array): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = buffer.indexOf(BEGIN); at >= 0; at = buffer.indexOf(BEGIN, at + 1))
    if (THIRD.includes(bytes[at + 2])) return true
  return false
}

/** The strings that `change` makes of them, by their ids. */
export function mapped({ bytes, starts }: Strings, change: (bytes: Uint8Array, id: number) => Uint8Array): Strings {
  const one = (_: unknown, i: number) => change(bytes.subarray(starts[i], starts[i + 1]), i)
  return stringsOf(Array.from({ length: starts.length - 1 }, one))
}

/** Texts one after the other. */
export function stringsOf(texts: readonly Uint8Array[]): Strings {
  const starts = new Uint32Array(texts.length + 1)
  texts.forEach(({ length }, i) => (starts[i + 1] = starts[i] + length))
  return { bytes: new Uint8Array(Buffer.concat(texts)), starts }
}

function escapeOne(bytes: Uint8Array): Uint8Array {
  let text = ''
  for (const char of decodeText(bytes)) {
    const code = char.codePointAt(0) as number
    if (isEscape(code) || (code >= 0xd800 && code <= 0xdfff))
      for (const byte of encodeText(char)) text += String.fromCodePoint(ESCAPED + byte)
    else text += char
  }
  return Buffer.from(text)
}

function unescapeOne(bytes: Uint8Array): Uint8Array {
  return encodeText(unescapeText(decodeText(bytes)))
}

/** A name that may have been escaped, as a string of events. */
export function unescapeText(text: string): string {
  if (!ANY_ESCAPE.test(text)) return text
  let name = ''
  for (const char of text) {
    const code = char.codePointAt(0) as number
    name += isEscape(code) ? String.fromCharCode(0xdc00 + code - ESCAPED) : char
  }
  // Bytes that are UTF-8 together are a character.
  return decodeText(encodeText(name))
}

const ANY_ESCAPE = /[\u{10fe80}-\u{10feff}]/u

function isEscape(code: number): boolean {
  return code >= ESCAPED + 0x80 && code <= ESCAPED + 0xff
}
