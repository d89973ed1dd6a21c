import { decodeText } from '../../event/strings.js'

/** valgrind's first line about itself, or a call; output of the program may precede both. */
const LINE = /^>*(?:==(?:[\d:.]+ )?\d+== |--(?:[\d:.]+ )?\d+-- (?: = |[_A-Za-z]\w*\())/m

/** Whether bytes are the beginning of a log. */
export function sniff(head: Uint8Array): boolean {
  return LINE.test(decodeText(head.subarray(0, 4096)))
}
