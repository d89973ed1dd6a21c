import { decodeText } from '../../event/strings.js'

/** The titles as far as a short head has them, or a line's columns up to its size. */
const FIRST_LINE =
  /^\s*(?:Thread[ \t]+Time[ \t]+of[ \t]+event[ \t]+Address\b|\d+-\d+[ \t]+(?:\d+[ \t]+0[xX][\da-fA-F]+[ \t]+(?:del|\d+)|old[ \t]+0[xX][\da-fA-F]+[ \t]+\d+)(?:\s|$))/

/** Whether bytes are the beginning of a heap monitoring file: of its titles or of a line. */
export function sniff(head: Uint8Array): boolean {
  return FIRST_LINE.test(decodeText(head.subarray(0, 4096)))
}
