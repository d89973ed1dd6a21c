import { decodeText } from '../../event/strings.js'

/** The header row, as far as a short head contains it, and a line's columns up to its size. */
const HEADER_ROW = /^\s*Thread[ \t]+Time[ \t]+of[ \t]+event[ \t]+Address\b/
const ADDRESS = /[ \t]+0[xX][\da-fA-F]+[ \t]+/.source
const FIRST_LINE = new RegExp(`^\\s*\\d+-\\d+[ \\t]+(?:\\d+${ADDRESS}(?:del|\\d+)|old${ADDRESS}\\d+)(?:\\s|$)`)

/** Whether bytes are the start of a heap monitoring file: of its header row or of a line. */
export function sniff(head: Uint8Array): boolean {
  const text = decodeText(head.subarray(0, 4096))
  return HEADER_ROW.test(text) || FIRST_LINE.test(text)
}
