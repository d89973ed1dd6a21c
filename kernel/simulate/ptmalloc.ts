/**
 * glibc's allocator as a policy: the chunk that it gives to a call, and the memory that it then has from the system.
 */
import { CALLOC, MALLOC, MEMALIGN, REALLOC } from '../../lib/kernel/layouts/allocators'
import { EXHAUSTED, OVERALIGNED, TOO_LARGE, UNMAPPED } from '../../lib/kernel/layouts/simulate'
import { clearIdentities } from '../allocators/identities'
import { MAIN_ARENA, topOf } from '../allocators/ptmalloc/arenas'
import { MOST_ALIGNMENT } from '../allocators/ptmalloc/calls'
import { bytesOf, MAPPED, stateOf } from '../allocators/ptmalloc/chunks'
import { lengthOf } from '../allocators/ptmalloc/mappings'
import { blockAt, offsetOf, threadHeaps } from '../allocators/ptmalloc/regions'
import { emptyCaches } from '../allocators/ptmalloc/rules'
import { allocate, finish, release, start } from '../allocators/ptmalloc/simulator'
import { addUsed, give, header, ROOM, used } from './settings'

/** The start of the main heap of a position-independent program, and the end of the area for mappings. */
const HEAP: u64 = 0x5555_5555_9000
const MAPPINGS: u64 = 0x7fff_f7ff_f000
/** The bytes that are mapped for the stack of a thread. */
const STACK: u64 = 0x80_1000

/** The bytes of mapped blocks. */
let mapped: u64 = 0

/** The reason why a block could not be allocated. */
export let ptFault: u32 = TOO_LARGE

/**
 * Begins a simulation.
 * @param version the minor version of glibc @param hasCaches whether threads have caches, if that version has any
 * @returns false if memory is exhausted
 */
export function startPtmalloc(version: i32, hasCaches: bool): bool {
  mapped = 0
  ptFault = TOO_LARGE
  if (!start(version, 64, 0, STACK, HEAP, MAPPINGS, false)) return false
  if (!hasCaches) emptyCaches()
  return clearIdentities()
}

export function ptEnd(thread: i32): void {
  finish(thread)
  noteUsed()
}

/**
 * Allocates memory for a block: see `give`. @param alignment 0: any. @param elements of a calloc, 0 if unknown
 * @returns false if there is none
 */
export function ptAllocate(thread: i32, isCalloc: bool, size: u64, alignment: u64, elements: u64): bool {
  if (alignment > MOST_ALIGNMENT) {
    ptFault = OVERALIGNED
    return false
  }
  if (alignment != 0) return made(allocate(MEMALIGN, thread, alignment, 0, size), size)
  return made(allocate(isCalloc ? CALLOC : MALLOC, thread, isCalloc ? elements : 0, 0, size), size)
}

/** Resizes a block: see `give`. @returns false if there is no memory */
export function ptResize(thread: i32, chunk: u32, size: u64): bool {
  forget(chunk)
  if (size > 0) return made(allocate(REALLOC, thread, 0, chunk, size), size)
  // glibc only frees the block here. Other allocators return a block of zero bytes, and so does this policy.
  release(thread, chunk)
  return made(allocate(MALLOC, thread, 0, 0, 0), 0)
}

export function ptRelease(thread: i32, chunk: u32): void {
  forget(chunk)
  release(thread, chunk)
  noteUsed()
}

function made(chunk: u32, size: u64): bool {
  if (chunk == 0) {
    // A request that is not too large fails only if the simulation has no memory.
    ptFault = used + size > ROOM ? TOO_LARGE : EXHAUSTED
    return false
  }
  if (stateOf(chunk) == MAPPED) mapped += lengthOf(chunk)
  noteUsed()
  const block = blockAt(chunk)
  if (block != 0 && used <= ROOM) return give(block - header, bytesOf(chunk), chunk)
  ptFault = used > ROOM ? TOO_LARGE : UNMAPPED
  return false
}

function forget(chunk: u32): void {
  if (stateOf(chunk) == MAPPED) mapped -= lengthOf(chunk)
}

/** The main heap ends with its last chunk. */
function noteUsed(): void {
  const top = topOf(MAIN_ARENA)
  const main: u64 = top == 0 ? 0 : offsetOf(top) + bytesOf(top)
  addUsed(main + threadHeaps() + mapped - used)
}
