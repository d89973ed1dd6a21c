/**
 * Simulated allocators for callers that know blocks by their addresses alone: a table has the handles of live blocks,
 * which costs time and memory.
 */
import { JEMALLOC, MALLOC, REALLOC } from '../../lib/kernel/layouts/allocators'
import { findHead, linkHead, resetPages } from '../shared/pages'
import { alignment } from './ptmalloc/rules'
import { addressOf, isLive, simCall, simHandle, simKind, simRelease, simSettle } from './simulator'

/** The logarithm of the distance between blocks. */
let shift: u64 = 4

/** Forgets all blocks, after a simulation was begun. */
export function clearBlocks(): void {
  shift = simKind == JEMALLOC ? 3 : ctz(alignment)
  resetPages()
}

/** The place of an address in the table, which has one for each 16 bytes. */
// @ts-ignore: decorator
@inline
function placeOf(address: u64): u64 {
  return (address >> shift) << 4
}

/** The handle of the live block at an address, 0 if there is none. */
function handleAt(address: u64): u32 {
  const handle = findHead(placeOf(address))
  return handle != 0 && isLive(handle) && addressOf(handle) == address ? handle : 0
}

/** Notes the block at an address, 0 for none. Without memory for it, the block is not known any more. */
function setBlock(address: u64, handle: u32): void {
  linkHead(placeOf(address), handle)
}

/** The same as `simCall`, for a block to be found by its address. */
export function simMake(called: u32, thread: i32, more: u64, old: u32, size: u64): u64 {
  const predicted = simCall(called, thread, more, old, size)
  if (predicted != 0) setBlock(predicted, simHandle)
  return predicted
}

/**
 * Predicts the address that realloc returns. As in C, without an old address it is malloc, and without a size it is
 * free, with the result 0.
 */
export function simRealloc(thread: i32, oldAddress: u64, size: u64): u64 {
  if (oldAddress != 0 && size == 0) {
    simFree(thread, oldAddress)
    return 0
  }
  const old = oldAddress == 0 ? 0 : handleAt(oldAddress)
  if (old != 0) setBlock(oldAddress, 0)
  return simMake(old == 0 ? MALLOC : REALLOC, thread, 0, old, size)
}

/** Frees a block; unknown blocks are ignored. */
export function simFree(thread: i32, address: u64): void {
  const handle = handleAt(address)
  if (handle != 0) setBlock(address, 0)
  simRelease(thread, handle)
}

/** Corrects the address that the previous call predicted. */
export function simFix(predicted: u64, actual: u64): void {
  if (predicted == actual || actual == 0) return
  if (predicted != 0 && findHead(placeOf(predicted)) == simHandle) setBlock(predicted, 0)
  // The block recorded as live there was freed unseen, or there are two.
  const stale = handleAt(actual)
  simSettle(actual)
  if (stale != 0 && stale != simHandle) setBlock(actual, 0)
  if (simHandle != 0) setBlock(actual, simHandle)
}
