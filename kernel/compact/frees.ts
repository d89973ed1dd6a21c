/** Codes the descriptors of frees. */

import { classAt } from './classes'
import { codeTree, entryAt, freshen, pairBit } from './coder'
import { descriptorAt, descriptorCount, ENDS, freeCount, onlyFree } from './descriptors'
import { Thread } from './thread'

const FREES: usize = memory.data(65_536)
const FREE_TREE: usize = memory.data(131_072)

export function resetFrees(): void {
  freshen(FREES, 16_384)
  freshen(FREE_TREE, 32_768)
}

/** Codes the descriptor of a free of a block of class n. @returns 0 if what was read is impossible */
export function codeFree(t: Thread, n: u32, freeing: u32): u32 {
  if (freeCount == 1) return onlyFree
  const c = classAt(n)
  const guess = c.free
  if (guess != 0 && descriptorAt(guess).form == ENDS) {
    const first = entryAt(FREES, guess, t.s1)
    const second = entryAt(FREES, n, 99)
    if (pairBit(guess == freeing ? 1 : 0, first, second, 32) != 0) return guess
  }
  const read = codeTree(freeing, 15, FREE_TREE)
  if (read < 2 || read >= descriptorCount || descriptorAt(read).form != ENDS) return 0
  c.free = read
  return read
}
