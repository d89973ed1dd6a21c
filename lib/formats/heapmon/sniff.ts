import { decodeText } from '../../event/strings.js'

/** The header row, as far as a short head contains it, or a line's columns up to its size. */
const FIRST_LINE =
  /^\s*(?:Thread[ \t]+Time[ \t]+of[ \t]+event[ \t]+Address\b|\d+-\d+[ \t]+(?:\d+[ \t]+0[xX][\da-fA-F]+[ \t]+(?:del|\d+)|old[ \t]+0[xX][\da-fA-F]+[ \t]+\d+)(?:\s|$))/

/** Whether bytes are the start of a heap monitoring file: of its header row or of a line. */
export function sniff(head: Uint8Array): boolean {
  return FIRST_LINE.test(decodeText(head.subarray(0, 4096)))
}
