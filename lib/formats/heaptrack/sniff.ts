import { decodeText } from '../../event/strings.js'

/** The line with the versions of heaptrack and of the file. */
const FIRST_LINE = /^v [1-9a-f][0-9a-f]{4,6}(?: [0-9a-f]{1,4})?\r?\n/

/** Whether bytes are the beginning of a trace. */
export function sniff(head: Uint8Array): boolean {
  return FIRST_LINE.test(decodeText(head.subarray(0, 64)))
}
