/**
 * Checkpoints: places at which the model forgets all but the threads, the live blocks and the simulated heap. The file
 * contains what the model keeps, so a reader can begin there. The same code writes and reads it.
 */

import { PTMALLOC } from '../../lib/kernel/layouts/allocators'
import { simKind } from '../allocators/simulator'
import { isEncoding, overrun } from './coder'
import { nextEvent } from './history'
import { beginKeptBlocks, codeOtherBlocks, codeThreads, endKeptBlocks, leaveBlock } from './kept-blocks'
import { beginHeap, codeHeap, endHeap } from './kept-heap'
import { codeLists } from './kept-lists'
import { beginThings, keptNumber } from './kept-numbers'
import { blockEnd } from './blocks'
import { blockAt } from './block'
import { isSimulating } from './simulation'

const HAS_HEAP: u32 = 50

/**
 * Codes the kept state. A reader adds it to an empty model, which only has the simulation's settings if there is a
 * heap.
 * @param length of the payload, if it is read
 * @returns false if the payload is damaged, memory is exhausted, or the state cannot be represented
 */
export function codeCheckpoint(length: u32): bool {
  beginThings(length)
  beginKeptBlocks()
  if (!isEncoding) nextEvent()
  const isFine = codeThreads() && codeHeaps() && codeOtherBlocks() && (isEncoding || overrun <= 4)
  endHeap()
  endKeptBlocks()
  return isFine
}

function codeHeaps(): bool {
  // Simulations of other allocators are not kept; they begin again.
  const hasHeap = isSimulating && simKind == PTMALLOC
  if (keptNumber(hasHeap ? 1 : 0, HAS_HEAP, 0) != 0) return hasHeap && beginHeap() && codeHeap() && codeLists()
  if (isEncoding) {
    for (let n: u32 = 1; n < blockEnd(); n++) if (blockAt(n).made != 0 && !leaveBlock(n)) return false
  }
  return true
}
