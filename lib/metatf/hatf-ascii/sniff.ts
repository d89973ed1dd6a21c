import { decodeText } from '../../event/strings.js'

/** The complete lines of the head, the empty line, and the available part of a record. */
const HEAD = /((?:##[ \t]*[^\s:][^\n:]*:[^\n]*\n)*)/.source
const RECORD = /(?:[1-9]|10)(?:[ \t]+(?:0x)?[\da-f]+)*[ \t]*(?:\r?\n|$)/.source
const BEGINNING = new RegExp(`^${HEAD}(?:##[^\\n]*$|(?:\\r?\\n)*(?:${RECORD}|$))`, 'i')
/** The file is a DTD, not a trace. */
const IS_DTD = /^##[ \t]*(?:DTDname|MetaTF):/im
/** A trace by this DTD, or one of that name. */
const OTHER_DTD = /^##[ \t]*DTDURL:(?![^\n]*hatf)[^\n]*\n/im

/**
 * Whether bytes are the beginning of a trace in ASCII that may be HATF: a head that names no other DTD, and what can be
 * records.
 */
export function sniff(head: Uint8Array): boolean {
  const text = decodeText(head.subarray(0, 4096))
  return text.startsWith('##') && BEGINNING.test(text) && !IS_DTD.test(text) && !OTHER_DTD.test(text)
}
