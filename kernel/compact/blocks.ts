/**
 * The live blocks: by address, in the order of their births, and by class. The class of a block is the descriptor of
 * the event that allocated it.
 */

import { blockAt, reserveBlock } from './block'
import { linkSite, resetSites, unlinkSite } from './best/sites'
import { isKept, pastAt, sequence } from './history'
import { BEST } from './level'
import { addToClass, ALL, resetClasses, takeFromClass } from './classes'
import { findHead, linkHead, resetPages } from './pages'

/** The blocks by the last bits of their birth numbers. */
const BIRTHS: usize = memory.data(262_144)
const BIRTH_MASK: u32 = 0xffff
/** The maximum distance at which neighbours in the order of births are searched. */
const NEAR: u32 = 8
const TOP_NEAR: u32 = 32

/** The number of blocks, live or not. Block 0 is none. */
let count: u32 = 1
let unused: u32 = 0
/** The number of births, and the newest block that is still live. */
let births: u32 = 0
let newest: u32 = 0

export function resetBlocks(): void {
  count = 1
  unused = 0
  births = 0
  newest = 0
  if (BEST) resetSites()
  else memory.fill(BIRTHS, 0, 262_144)
  resetClasses()
  resetPages()
}

/** All numbers of blocks, live or not, are below this. */
export function blockEnd(): u32 {
  return count
}

/** The live block of a key, or 0. */
export function findBlock(key: u64): u32 {
  let n = findHead(key)
  while (n != 0 && blockAt(n).key != key) n = blockAt(n).next
  return n
}

/** The block that a recent event allocated, if it is still live; else 0. */
export function bornAt(event: u32): u32 {
  if (!isKept(event)) return 0
  const block = pastAt(event).born
  return block != 0 && blockAt(block).made == event ? block : 0
}

/**
 * Adds a block. A block with the same key ends.
 * @param site the site of its birth, for the best level
 * @returns its number, or 0 if memory is exhausted
 */
export function addBlock(key: u64, size: u64, inClass: u32, site: u32): u32 {
  const old = findBlock(key)
  if (old != 0) removeBlock(old)
  let n = unused
  if (n != 0) unused = blockAt(n).next
  else {
    if (!reserveBlock(count)) return 0
    n = count++
  }
  const block = blockAt(n)
  block.key = key
  block.size = size
  block.index = 0
  block.handle = 0
  block.class = inClass
  block.made = sequence
  if (BEST) linkSite(n, site)
  else {
    block.birth = newest = ++births
    store<u32>(BIRTHS + ((<usize>(births & BIRTH_MASK)) << 2), n)
  }
  block.next = findHead(key)
  if (!linkHead(key, n)) return 0
  if (BEST && !addToClass(ALL, n)) return 0
  return addToClass(inClass, n) ? n : 0
}

export function removeBlock(n: u32): void {
  const block = blockAt(n)
  const key = block.key
  if (BEST) unlinkSite(n)
  else forgetBirth(n, block.birth)
  const head = findHead(key)
  if (head == n) linkHead(key, block.next)
  else {
    let before = head
    while (blockAt(before).next != n) before = blockAt(before).next
    blockAt(before).next = block.next
  }
  takeFromClass(block.class, n, block.position)
  if (BEST) takeFromClass(ALL, n, block.birth)
  block.made = 0
  block.next = unused
  unused = n
}

function forgetBirth(n: u32, birth: u32): void {
  const slot = BIRTHS + ((<usize>(birth & BIRTH_MASK)) << 2)
  if (load<u32>(slot) == n) {
    store<u32>(slot, 0)
    if (birth == newest) {
      for (let i: u32 = 0; i < TOP_NEAR && newest != 0; i++) {
        newest--
        if (load<u32>(BIRTHS + ((<usize>(newest & BIRTH_MASK)) << 2)) != 0) break
      }
    }
  }
}

/** The newest live block, or 0. */
export function newestBlock(): u32 {
  return newest == 0 ? 0 : load<u32>(BIRTHS + ((<usize>(newest & BIRTH_MASK)) << 2))
}

/** The next live block after a birth, if it is near; else 0. */
export function younger(birth: u32): u32 {
  for (let i: u32 = 0; i < NEAR; i++) {
    if (++birth > births) return 0
    const n = load<u32>(BIRTHS + ((<usize>(birth & BIRTH_MASK)) << 2))
    if (n != 0) return n
  }
  return 0
}

/** The last live block before a birth, if it is near; else 0. */
export function older(birth: u32): u32 {
  for (let i: u32 = 0; i < NEAR; i++) {
    if (birth <= 1) return 0
    const n = load<u32>(BIRTHS + ((<usize>(--birth & BIRTH_MASK)) << 2))
    if (n != 0) return n
  }
  return 0
}
