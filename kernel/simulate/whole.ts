/** Policies that are whole allocators: each call has a thread, and all memory belongs to one process. */
import { numberOf } from '../allocators/identities'
import { API, ELEMENTS, MASK, THREAD } from '../shared/columns'
import { API_CALLOC, HAS_API, HAS_COUNT, HAS_THREAD } from '../shared/event'
import { jeAllocate, jeEnd, jeFault, jeRelease, jeResize, startJemalloc } from './jemalloc'
import { ptAllocate, ptEnd, ptFault, ptRelease, ptResize, startPtmalloc } from './ptmalloc'
import { addUsed, granule, JEMALLOC, policy, PTMALLOC, used } from './settings'

/**
 * The version: glibc's minor version, or jemalloc's version with the bits of a word and whether threads have caches.
 */
let version: i32 = 0
let bits: i32 = 64
let hasCaches: bool = true
/** The thread that makes the current call. */
let caller: i32 = 0

/** Whether the policy is a whole allocator. */
export function isWhole(): bool {
  return policy == PTMALLOC || policy == JEMALLOC
}

/** Chooses the allocator to simulate from now on. @returns false if memory is exhausted */
export function startWhole(newVersion: i32, newBits: i32, newCaches: bool): bool {
  version = newVersion
  bits = newBits
  hasCaches = newCaches
  return start()
}

function start(): bool {
  return policy == JEMALLOC ? startJemalloc(version, bits, hasCaches) : startPtmalloc(version, hasCaches)
}

/** Returns all memory, and begins again. @returns false if memory is exhausted */
export function resetWhole(): bool {
  addUsed(0 - used)
  return start()
}

/** Attributes the calls that follow to the thread of a row. */
export function enterThreadOf(row: usize): void {
  const mask = load<u32>(MASK + (row << 2))
  caller = numberOf((mask & HAS_THREAD) != 0 ? load<u64>(THREAD + (row << 3)) : 0)
}

/** Ends the thread of the current call. */
export function endThread(): void {
  if (policy == JEMALLOC) jeEnd(caller)
  else ptEnd(caller)
}

/**
 * Allocates memory for a block, as the function of the event of a row does: see `give`.
 * @param alignment ignored unless it is a power of two @returns false if there is no memory
 */
export function wholeAllocate(row: usize, size: u64, alignment: u64): bool {
  if (popcnt(alignment) != 1) alignment = 0
  if (policy == JEMALLOC) return jeAllocate(caller, size, alignment)
  if (alignment <= granule) alignment = 0
  const mask = load<u32>(MASK + (row << 2))
  const isCalloc = (mask & HAS_API) != 0 && load<u8>(API + row) == API_CALLOC
  const elements = (mask & HAS_COUNT) != 0 ? load<u64>(ELEMENTS + (row << 3)) : 0
  return ptAllocate(caller, isCalloc, size, alignment, elements)
}

/** Resizes a block, in place or elsewhere: see `give`. @returns false if there is no memory */
export function wholeResize(place: u32, size: u64): bool {
  return policy == JEMALLOC ? jeResize(caller, place, size) : ptResize(caller, place, size)
}

/** The reason why a block got no memory. */
export function wholeFault(): u32 {
  return policy == JEMALLOC ? jeFault : ptFault
}

export function wholeRelease(place: u32): void {
  if (policy == JEMALLOC) jeRelease(caller, place)
  else ptRelease(caller, place)
}
