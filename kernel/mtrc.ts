/**
 * mpatrol tracing output: records to columns, and columns to records. See lib/formats/mtrc. An instance belongs to one
 * decoder or one encoder: it keeps the live blocks and the names in the format's caches.
 */

import { clearBlocks, seedBlocks } from './mtrc/blocks'
import { clearCaches } from './mtrc/caches'
import { clearRecent } from './mtrc/recent'
import { setTrace } from './mtrc/state'
import { seedHashes } from './shared/hash'

export { SPACES, setSpaces } from './mtrc/assign'
export { isFull } from './mtrc/blocks'
export { decode, fields, position, stop } from './mtrc/decode'
export { encode, notes, recordStart, setWritten, written } from './mtrc/encode'
export { INPUT, OUTPUT } from './mtrc/layout'
export { fault, layOutNames, nameBytes, nameCount } from './mtrc/read'
export { beginBatch, define, defineAll, refuse, room, roomForAll, wanted } from './mtrc/strings'
export {
  ADDRESS,
  FILE,
  FUNCTION,
  INDEX,
  KIND,
  LINE,
  MASK,
  OLD_ADDRESS,
  OUTCOME,
  SIZE,
  THREAD,
  TYPE,
} from './shared/columns'

/** Chosen at random, so that no trace can contain keys or names chosen to collide. */
export function seed(value: u32): void {
  seedBlocks(value)
  seedHashes(value, ~value)
}

/** Begins another trace. Returns whether there is memory. */
export function begin(hasSources: bool, resolves: bool, byAddress: bool): bool {
  setTrace(hasSources, resolves)
  clearCaches()
  clearRecent()
  return clearBlocks(byAddress)
}
