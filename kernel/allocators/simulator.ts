/**
 * Simulated allocators: compute the addresses that a program gets from the calls that it makes. Kernels import this; it
 * keeps everything in the memory of the kernel, in pieces from live/room.ts.
 *
 * From its allocation on, a block is identified by a number, its handle. by-address.ts finds handles by addresses.
 *
 * Threads are numbers from 0, the main thread. The simulation is deterministic, and takes bounded time and memory for
 * each call, even with hostile input.
 */
import { JEMALLOC, NO_ALLOCATOR, PTMALLOC } from '../../lib/kernel/layouts/allocators'
import { addressOf as jeAddressOf } from './jemalloc/bins'
import { settle as jeSettle } from './jemalloc/repair'
import {
  allocate as jeAllocate,
  finish as jeFinish,
  isBlock,
  release as jeRelease,
  start as jeStart,
} from './jemalloc/simulator'
import { settle } from './ptmalloc/repair'
import { blockAt } from './ptmalloc/regions'
import { allocate, finish, isChunk, release, start } from './ptmalloc/simulator'

/** The allocator that is simulated. */
export let simKind: i32 = NO_ALLOCATOR
/** The handle of the block allocated by the last call, 0 if none. */
export let simHandle: u32 = 0

/**
 * Begins a simulation, and discards the previous one.
 * @param allocator `PTMALLOC` or `JEMALLOC`
 * @param version of ptmalloc, the minor version of glibc, 23 to 43; of jemalloc, 3 to 5
 * @param bits of a word, 32 or 64; of jemalloc 5, 64
 * @param cores of the machine, which limit the number of arenas; 0: no limit
 * @param detail of ptmalloc, the bytes that are mapped for the stack of a new thread, 0: none; of jemalloc, the sizes
 *   of the blocks that the recorder itself makes before a free and, in the upper 16 bits, after another call, 0: none
 * @param learns of ptmalloc, whether the first heap of an arena shows if the version is before or after 2.35
 * @returns false if there is no such allocator, or memory is exhausted
 */
export function simStart(allocator: i32, version: i32, bits: i32, cores: i32, detail: u64, learns: bool): bool {
  simKind = NO_ALLOCATOR
  simHandle = 0
  const limit = <u32>max(cores, 0)
  if (allocator == PTMALLOC) {
    // Heap and mappings are at unknown places until the first block in them is settled.
    if (!start(version, bits, limit, detail, 0, 0, learns)) return false
  } else if (allocator != JEMALLOC || !jeStart(version, bits, limit, detail)) return false
  simKind = allocator
  return true
}

/**
 * Predicts the address of a new block, which `simHandle` identifies.
 * @param called `MALLOC`, `CALLOC`, `MEMALIGN` or `REALLOC`
 * @param more the number of elements for calloc (0 if unknown), the alignment for memalign, otherwise 0
 * @param old the handle of the live block that realloc resizes, which is no longer valid then
 * @param size in bytes; for calloc of all elements
 * @returns 0 if the address cannot be known
 */
export function simCall(called: u32, thread: i32, more: u64, old: u32, size: u64): u64 {
  simHandle =
    simKind == JEMALLOC ? jeAllocate(called, thread, more, old, size) : allocate(called, thread, more, old, size)
  return simHandle == 0 ? 0 : addressOf(simHandle)
}

/** Corrects the address that `simCall` predicted. Changes `simHandle`. */
export function simSettle(actual: u64): void {
  simHandle = simKind == JEMALLOC ? jeSettle(actual) : settle(actual)
}

/** Frees a live block. */
export function simRelease(thread: i32, handle: u32): void {
  if (simKind == JEMALLOC) jeRelease(thread, handle)
  else if (isChunk(handle)) release(thread, handle)
}

// @ts-ignore: decorator
@inline
export function isLive(handle: u32): bool {
  return simKind == JEMALLOC ? isBlock(handle) : isChunk(handle)
}

// @ts-ignore: decorator
@inline
export function addressOf(handle: u32): u64 {
  return simKind == JEMALLOC ? jeAddressOf(handle) : blockAt(handle)
}

/** A thread ends. */
export function simThreadEnd(thread: i32): void {
  if (simKind == JEMALLOC) jeFinish(thread)
  else finish(thread)
}
