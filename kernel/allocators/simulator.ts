/**
 * Simulated allocators: compute the addresses that a program gets from the calls that it makes. Kernels import this; it
 * keeps everything in the memory of the kernel, in pieces from live/room.ts.
 *
 * From its allocation on, a block is identified by a number, its handle, which `simCall`, `simSettle` and `simRelease`
 * use. The other functions take addresses, and find the handle in a table, which costs time and memory. A kernel uses
 * either the former or the latter.
 *
 * Threads are numbers from 0, the main thread. The simulation is deterministic, and takes bounded time and memory for
 * each call, even with hostile input.
 */
import { JEMALLOC, MALLOC, NO_ALLOCATOR, PTMALLOC, REALLOC } from '../../lib/kernel/layouts/allocators'
import { clearBlocks, dropBlock, findBlock, putBlock } from './blocks'
import { addressOf as jeAddressOf } from './jemalloc/bins'
import { settle as jeSettle } from './jemalloc/repair'
import * as Jemalloc from './jemalloc/simulator'
import { settle } from './ptmalloc/repair'
import { blockAt } from './ptmalloc/regions'
import { alignment as chunkAlignment } from './ptmalloc/rules'
import { allocate, finish, isChunk, release, start } from './ptmalloc/simulator'

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
  } else if (allocator != JEMALLOC || !Jemalloc.start(version, bits, limit, detail)) return false
  simKind = allocator
  return clearBlocks(allocator == JEMALLOC ? 8 : chunkAlignment)
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
    simKind == JEMALLOC ? Jemalloc.allocate(called, thread, more, old, size) : allocate(called, thread, more, old, size)
  return simHandle == 0 ? 0 : addressOf(simHandle)
}

/** Corrects the address that `simCall` predicted. Changes `simHandle`. */
export function simSettle(actual: u64): void {
  simHandle = simKind == JEMALLOC ? jeSettle(actual) : settle(actual)
}

/** Frees a live block. */
export function simRelease(thread: i32, handle: u32): void {
  if (simKind == JEMALLOC) Jemalloc.release(thread, handle)
  else if (isChunk(handle)) release(thread, handle)
}

// @ts-ignore: decorator
@inline
function isLive(handle: u32): bool {
  return simKind == JEMALLOC ? Jemalloc.isBlock(handle) : isChunk(handle)
}

// @ts-ignore: decorator
@inline
function addressOf(handle: u32): u64 {
  return simKind == JEMALLOC ? jeAddressOf(handle) : blockAt(handle)
}

/** The same as `simCall`, for a block to be found by its address. */
export function simMake(called: u32, thread: i32, more: u64, old: u32, size: u64): u64 {
  const predicted = simCall(called, thread, more, old, size)
  if (predicted != 0) putBlock(predicted, simHandle)
  return predicted
}

/**
 * Predicts the address that realloc returns. As in C, without an old address it is malloc, and without a size it is
 * free, with the result 0.
 */
export function simRealloc(thread: i32, oldAddress: u64, size: u64): u64 {
  if (oldAddress == 0) return simMake(MALLOC, thread, 0, 0, size)
  if (size == 0) {
    simFree(thread, oldAddress)
    simHandle = 0
    return 0
  }
  const old = handleAt(oldAddress)
  if (old == 0) return simMake(MALLOC, thread, 0, 0, size)
  dropBlock(oldAddress)
  return simMake(REALLOC, thread, 0, old, size)
}

/** Frees a block; unknown blocks are ignored. */
export function simFree(thread: i32, address: u64): void {
  const handle = handleAt(address)
  if (handle != 0) dropBlock(address)
  simRelease(thread, handle)
}

export function simThreadEnd(thread: i32): void {
  if (simKind == JEMALLOC) Jemalloc.finish(thread)
  else finish(thread)
}

/** Corrects the address that the previous call predicted. */
export function simFix(predicted: u64, actual: u64): void {
  if (predicted == actual || actual == 0) return
  if (predicted != 0 && findBlock(predicted) == simHandle) dropBlock(predicted)
  // The block recorded as live there was freed unseen, or there are two.
  const stale = handleAt(actual)
  simSettle(actual)
  if (stale != 0 && stale != simHandle) dropBlock(actual)
  if (simHandle != 0) putBlock(actual, simHandle)
}

/** The handle of the live block at an address, 0 if there is none. */
function handleAt(address: u64): u32 {
  const handle = findBlock(address)
  return handle != 0 && isLive(handle) && addressOf(handle) == address ? handle : 0
}
