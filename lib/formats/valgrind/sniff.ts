import { decodeText } from '../../event/strings.js'

/** What valgrind says first of itself, or a call; the program's own output may stand before either. */
const LINE = /^>*(?:==(?:[\d:.]+ )?\d+== |--(?:[\d:.]+ )?\d+-- (?: = |[_A-Za-z]\w*\())/m

/** Whether bytes are the beginning of a log. */
export function sniff(head: Uint8Array): boolean {
  return LINE.test(decodeText(head.subarray(0, 4096)))
}
