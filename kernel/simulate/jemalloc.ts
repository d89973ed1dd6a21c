/** jemalloc as a policy: the block that it gives to a call, and the memory that it then has from the system. */
import { MALLOC, MEMALIGN, REALLOC } from '../../lib/kernel/layouts/allocators'
import { EXHAUSTED, TOO_LARGE, TOO_MANY } from '../../lib/kernel/layouts/simulate'
import { clearIdentities } from '../allocators/identities'
import { addressOf } from '../allocators/jemalloc/bins'
import { areTooMany, isExhausted } from '../allocators/jemalloc/extents'
import { heldPages } from '../allocators/jemalloc/free-pages'
import { areUsedUp } from '../allocators/jemalloc/regions'
import { allocate, caller, finish, isOpen, release, startFixed, usableOf } from '../allocators/jemalloc/simulator'
import { addUsed, give, ROOM, used } from './settings'

/**
 * The upper end of blocks without randomization, by the size of a word: the area for mappings ends there, after a table
 * of jemalloc itself.
 */
const TOP_64: u64 = 0x7fff_f7c0_0000
const TOP_32: u64 = 0xf7c0_0000
const PAGE_LOG: u64 = 12

/** The reason why a block could not be allocated. */
export let jeFault: u32 = TOO_LARGE

/**
 * Begins a simulation.
 * @param version of jemalloc, 3 to 5 @param hasCaches whether threads have caches
 * @returns false if memory is exhausted
 */
export function startJemalloc(version: i32, bits: i32, hasCaches: bool): bool {
  jeFault = TOO_LARGE
  return startFixed(version, bits, hasCaches, bits == 64 ? TOP_64 : TOP_32) && clearIdentities()
}

export function jeEnd(thread: i32): void {
  finish(thread)
  noteUsed()
}

/** Allocates memory for a block: see `give`. @param alignment 0: any @returns false if there is none */
export function jeAllocate(thread: i32, size: u64, alignment: u64): bool {
  return made(allocate(alignment == 0 ? MALLOC : MEMALIGN, thread, alignment, 0, size))
}

/** Resizes a block: see `give`. @returns false if there is no memory */
export function jeResize(thread: i32, block: u32, size: u64): bool {
  return made(allocate(REALLOC, thread, 0, block, size))
}

export function jeRelease(thread: i32, block: u32): void {
  release(thread, block)
  noteUsed()
}

function reason(): u32 {
  if (areTooMany) return TOO_MANY
  if (isExhausted || caller == 0) return EXHAUSTED
  return !isOpen || areUsedUp || used > ROOM ? TOO_LARGE : EXHAUSTED
}

function made(block: u32): bool {
  // Without an extent for the remaining pages, they would be lost.
  if (block != 0 && !areTooMany && !isExhausted) {
    noteUsed()
    const at = addressOf(block)
    if (at != 0 && used <= ROOM) return give(at, usableOf(block), block)
  }
  jeFault = reason()
  return false
}

function noteUsed(): void {
  addUsed((heldPages << PAGE_LOG) - used)
}
