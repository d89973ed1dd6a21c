/** Shrinking and removal of heaps. */
import { MAIN_ARENA, REGION, setTop, topOf, unmapHeap } from './arenas'
import { unlink } from './bins'
import { BEFORE, BINNED, bytesOf, link, placeOf, setBytes, setLive, stateOf } from './chunks'
import { absorb, dropChunk } from './heap-chunks'
import { set32 } from './log'
import { trimThreshold } from './mappings'
import { baseOf, dropRegion, earlierOf, fenceOf, lengthOf, setFence, setLength, startOfRegion } from './regions'
import { heapHead, heapRoom, least, PAGE, TOP_PAD } from './rules'

/** Shrinks the main heap if much of its end is free. */
export function trimMain(): void {
  const top = topOf(MAIN_ARENA)
  if (top == 0 || bytesOf(top) < trimThreshold()) return
  setBytes(top, bytesOf(top) - excess(bytesOf(top)))
}

/** The number of bytes to remove from a top chunk. */
function excess(bytes: u64): u64 {
  const area = <i64>(bytes - least - 1)
  return area <= <i64>TOP_PAD ? 0 : (<u64>area - TOP_PAD) & ~(PAGE - 1)
}

/** Removes heaps of an arena that are free, and shrinks the last one. */
export function trimHeap(arena: usize): void {
  let region = load<u32>(arena, REGION)
  while (true) {
    const earlier = earlierOf(region)
    const top = topOf(arena)
    if (earlier == 0 || placeOf(top) != startOfRegion(region) + heapHead) break
    const fence = fenceOf(earlier)
    const before = link(fence, BEFORE)
    const isFree = before != 0 && stateOf(before) == BINNED
    const free = bytesOf(fence) + (isFree ? bytesOf(before) : 0)
    if (free + heapRoom - lengthOf(earlier) < TOP_PAD + least + PAGE) break
    dropChunk(top)
    unmapHeap(baseOf(region))
    dropRegion(region)
    setLive(fence, 0)
    setFence(earlier, 0)
    let last = fence
    if (isFree) {
      unlink(before)
      absorb(before)
      last = before
    }
    setTop(arena, last)
    set32(arena + REGION, earlier)
    region = earlier
  }
  const top = topOf(arena)
  if (bytesOf(top) < trimThreshold()) return
  const less = excess(bytesOf(top))
  setLength(region, lengthOf(region) - less)
  setBytes(top, bytesOf(top) - less)
}
