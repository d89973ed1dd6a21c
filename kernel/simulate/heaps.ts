/** The heaps of a simulation: each address space has one. */
import { EXHAUSTED, SEVERAL } from '../../lib/kernel/layouts/simulate'
import { giveRoom, takeZeros } from '../live/room'
import { dropArenas, makeArenas, resetArenas } from './arenas'
import { BUDDY_HEAP, makeBuddy, resetBuddy } from './buddies'
import { FIT_HEAP, makeFit, resetFit } from './fits'
import { BINARY_BUDDY, policy, SEGREGATED } from './settings'
import { SPAN_HEAP } from './spans'
import { isWhole, resetWhole } from './whole'

/** By address space, its heap; and the number of heaps. */
const HEAPS: usize = memory.data(262144)
export let heaps: u32 = 0

function heapLog(): u32 {
  if (policy == SEGREGATED) return SPAN_HEAP
  return policy >= BINARY_BUDDY && policy < SEGREGATED ? BUDDY_HEAP : FIT_HEAP
}

/** Discards all heaps, before the policy changes. */
export function discardHeaps(): void {
  if (heaps == 0) return
  for (let at = HEAPS; at < HEAPS + 262144; at += 4) {
    const heap = load<u32>(at)
    if (heap != 0) {
      dropArenas(heap)
      giveRoom(heap, heapLog())
    }
    store<u32>(at, 0)
  }
  heaps = 0
}

/** The heap of an address space; 0 if memory is exhausted. */
export function heapOf(space: u32): usize {
  const at = HEAPS + ((<usize>space) << 2)
  let heap = <usize>load<u32>(at)
  if (heap != 0) return heap
  if (isWhole() && heaps > 0) return 0
  heap = takeZeros(heapLog())
  if (heap == 0) return 0
  if (heapLog() == BUDDY_HEAP) makeBuddy(heap)
  else makeFit(heap)
  if (!makeArenas(heap)) {
    giveRoom(heap, heapLog())
    return 0
  }
  store<u32>(at, <u32>heap)
  heaps++
  return heap
}

/** The heap of an address space that has one. */
export function heapAt(space: u32): usize {
  return <usize>load<u32>(HEAPS + ((<usize>space) << 2))
}

/** The reason why an address space has no heap. */
export function noHeap(): u32 {
  return isWhole() && heaps > 0 ? SEVERAL : EXHAUSTED
}

/** Resets the heap of an address space without blocks. @returns whether there was memory */
export function resetHeap(space: u32): bool {
  const heap = heapAt(space)
  if (heap == 0) return true
  if (isWhole()) return resetWhole()
  if (heapLog() == BUDDY_HEAP) resetBuddy(heap)
  else resetFit(heap)
  resetArenas(heap)
  return true
}
