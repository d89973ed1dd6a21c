import { EventEmitter } from 'node:events'
import { readHead } from '../../formats/heaptrack/head.js'
import { sniff } from '../../formats/heaptrack/sniff.js'
import { peek } from '../../reading/peek.js'
import { inflateOnNode } from '../../streams/inflate-bytes.js'
import { headOf, inputSize } from '../../streams/io/file-status.js'
import { readInput } from '../../streams/io/read-input.js'

/** A compressed file has at most this many times the bytes of its compact trace: on six real ones, 0.7 to 2.2. */
const LARGEST_RATIO = 8
/** The number of bytes in which the first lines of a trace are. */
const HEAD = 65_536

/**
 * Whether it is clear before a trace is read that it is too large for a page: an interpreted heaptrack file, whose
 * events have no address that could be predicted, does not become much smaller than it is when compressed.
 * @param most the maximum number of bytes in the compact format
 */
export async function isTooLarge(path: string, most: number): Promise<boolean> {
  if (path === '-' || (inputSize(path) ?? 0) <= LARGEST_RATIO * most || sniff(headOf(path, 64))) return false
  const { head, whole } = await peek(inflateOnNode(readInput(path, { blocking: false }), {}, new EventEmitter()), HEAD)
  await whole.return()
  if (!sniff(head)) return false
  const found = readHead(head, 0, head.length, true)
  return typeof found === 'object' && !found.layout.raw
}
