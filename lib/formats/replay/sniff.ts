import { decodeText } from '../../event/strings.js'

/**
 * The beginning of a line up to its action. The head may end inside it, but not before the action is distinct from
 * prose.
 */
const FIRST_LINE = /^\s*-?\d+:[ \t]*(?:malloc|calloc|memalign|realloc|free|thread_done)[ \t]/

/** Whether bytes are the beginning of a dump: of a line with one of its actions. */
export function sniff(head: Uint8Array): boolean {
  return FIRST_LINE.test(decodeText(head.subarray(0, 4096)))
}
