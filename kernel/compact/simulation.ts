/** The simulated allocator, if one is known for the trace, and the address that it predicts for an event's block. */

import { CALLOC, MALLOC, MEMALIGN, REALLOC } from '../../lib/kernel/layouts/allocators'
import * as Event from '../shared/event'
import { simCall, simHandle, simRelease, simSettle, simStart, simThreadEnd } from '../allocators/simulator'
import { described, Descriptor, MAKES, MOVES } from './descriptors'
import { F_ALIGNMENT, F_API, F_COUNT, F_SIZE } from '../shared/fields'

/** Whether an allocator is simulated. */
export let isSimulating: bool = false
/** The simulation is abandoned if, of the first number of blocks, fewer than the second had the predicted address. */
const WINDOW: u32 = 4096
const LEAST_RIGHT: u32 = 1229
let calls: u32 = 0
let right: u32 = 0

export function stopSimulation(): void {
  isSimulating = false
}

/**
 * Begins to simulate an allocator; the parameters are those of `simStart`.
 * @returns false if there is no such allocator
 */
export function startSimulation(allocator: i32, version: i32, bits: i32, cores: i32, detail: u64, learns: bool): bool {
  calls = right = 0
  isSimulating = simStart(allocator, version, bits, cores, detail, learns)
  return isSimulating
}

/** Whether the address of a descriptor's block is expected from the simulation. */
// @ts-ignore: decorator
@inline
export function isSimulated(d: Descriptor): bool {
  return (
    isSimulating &&
    (d.form == MAKES || d.form == MOVES) &&
    d.kind != Event.KIND_EXISTING &&
    (d.mask & Event.HAS_SIZE) != 0
  )
}

/**
 * Simulates the call of an event.
 * @param old the handle of the block that a realloc resizes; 0 if it is not known
 * @returns the expected address; 0 if there is none
 */
export function simulate(d: Descriptor, thread: u32, old: u32): u64 {
  const size = described(d, F_SIZE)
  let called = MALLOC
  let more: u64 = 0
  if (d.form == MOVES && old != 0) {
    if (size == 0) simRelease(thread, old)
    else called = REALLOC
  } else if ((d.mask & Event.HAS_API) != 0) {
    const api = <u8>described(d, F_API)
    if (api == Event.API_CALLOC) {
      called = CALLOC
      more = described(d, F_COUNT)
    } else if (api == Event.API_MEMALIGN && (d.mask & Event.HAS_ALIGNMENT) != 0) {
      called = MEMALIGN
      more = described(d, F_ALIGNMENT)
    }
  }
  return simCall(called, thread, more, called == REALLOC ? old : 0, size)
}

/** Notes the address of the last call's block. @returns its handle, or 0 */
export function settle(expected: u64, actual: u64): u32 {
  if (expected == actual) right++
  else simSettle(actual)
  if (++calls == WINDOW) {
    if (right < LEAST_RIGHT) isSimulating = false
    calls = 0
    right = 0
  }
  return simHandle
}

/** Frees the block of a handle, if it has one. */
export function release(thread: u32, handle: u32): void {
  if (isSimulating) simRelease(thread, handle)
}

/** Notes an event without a block: the end of a thread, or a free of what is not known. */
export function notePlain(d: Descriptor, thread: u32): void {
  if (!isSimulating) return
  if (d.kind == Event.KIND_THREAD_DESTROY) simThreadEnd(thread)
  else if (d.kind == Event.KIND_FREE) simRelease(thread, 0)
}
