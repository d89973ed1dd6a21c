/** Ends of processes: the memory blocks of several that have ended are forgotten in one pass over all. */

import { blockAt, mixOf } from './block'
import { blockEnd, removeBlock } from './blocks'
import { sequence } from './history'

/** A pass examines at most this many blocks for each event since the last pass. */
const BLOCKS_PER_EVENT: u32 = 8
/** Where the upper bits of a key begin: those of addresses are only zeros or only ones, so they tell the process. */
const UPPER: u64 = 47
const UPPER_MASK: u32 = 0x1_ffff
/** For each value of these bits, whether a process with it has ended: a bit. */
const ENDED: usize = memory.data(16_384)
let isWaiting = false
let lastPass: u32 = 0

/** Whether a process ended among the events of this block of the file. */
export let hasEnds: bool = false

export function resetEnds(): void {
  if (isWaiting) memory.fill(ENDED, 0, 16_384)
  isWaiting = false
  lastPass = 0
}

/** Begins a block of events. */
export function beginEnds(): void {
  hasEnds = false
}

export function endProcess(process: u64): void {
  hasEnds = true
  isWaiting = true
  const upper = <u32>(mixOf(process) >> UPPER)
  mark(upper)
  mark(upper ^ UPPER_MASK)
  if (<u64>(sequence - lastPass) * BLOCKS_PER_EVENT >= blockEnd()) forgetEnded()
}

function mark(upper: u32): void {
  const at = ENDED + (upper >> 3)
  const bits: u32 = load<u8>(at)
  store<u8>(at, <u8>(bits | ((<u32>1) << (upper & 7))))
}

/** Forgets the blocks of the processes that have ended. */
export function forgetEnded(): void {
  if (!isWaiting) return
  for (let n: u32 = 1; n < blockEnd(); n++) {
    const block = blockAt(n)
    const upper = <u32>(block.key >> UPPER)
    if (block.made != 0 && (load<u8>(ENDED + (upper >> 3)) & (1 << (upper & 7))) != 0) removeBlock(n)
  }
  memory.fill(ENDED, 0, 16_384)
  isWaiting = false
  lastPass = sequence
}
