/**
 * Buddy systems. An area is a tree of blocks: each divides into a left and a right part in one way only. What the area
 * has not used yet is on a stack of blocks, the lowest on top.
 */
import { AT, dropNode, newNode, nodeAt, SIZE } from './nodes'
import {
  addUsed,
  BASE,
  DOUBLE_BUDDY,
  give,
  granule,
  header,
  page,
  policy,
  ROOM,
  roundUp,
  WEIGHTED_BUDDY,
} from './settings'
import { exactly, insert, lowest, remove } from './tree'

/** An area: its tree of free blocks, the blocks on its stack, its end, and the end of what it has from the system. */
const TREE: usize = 0
const DEPTH: usize = 4
const TOP: usize = 8
const LIMIT: usize = 16
/** The smallest block at the start of the area that has all blocks which were used. */
const SPINE: usize = 24
/** The stack: address and size of each block. */
const STACK: usize = 32
const AREA: usize = 1920
/** The size of a heap of two areas, as a logarithm. */
export const BUDDY_HEAP: u32 = 12

/** The smallest block, a power of two. */
let unit: u64 = 16
/** The siblings of a block and of those that contain it: address and size. */
const PATH: usize = memory.data(2048)

/** Begins a simulation. @param smallest a power of two */
export function startBuddies(smallest: u64): void {
  unit = max(smallest, granule)
}

/** Makes a heap of what is zero. */
export function makeBuddy(heap: usize): void {
  for (let i: usize = 0; i < 2; i++) {
    const area = heap + i * AREA
    const size = i == 0 ? ROOM : 3 * (ROOM >> 2)
    store<u32>(area, 1, DEPTH)
    store<u64>(area + STACK, 0)
    store<u64>(area + STACK, size, 8)
    store<u64>(area, unitOf(<u32>i), SPINE)
  }
}

/** Returns the memory of a heap without blocks. */
export function resetBuddy(heap: usize): void {
  for (let area = heap; area <= heap + AREA; area += AREA) {
    for (let tree = load<u32>(area, TREE); tree != 0; tree = load<u32>(area, TREE)) drop(area, lowest(tree, 0, 0))
    addUsed(0 - load<u64>(area, LIMIT))
  }
  memory.fill(heap, 0, (<usize>1) << BUDDY_HEAP)
  makeBuddy(heap)
}

// @ts-ignore: decorator
@inline
function unitOf(i: u32): u64 {
  return i == 0 ? unit : 3 * unit
}

/** The address at which blocks of an area begin. The second area has only sizes that are three times a power of two. */
// @ts-ignore: decorator
@inline
function baseOf(i: u32): u64 {
  return (i == 0 ? BASE : 2 * BASE) + ((granule - (header & (granule - 1))) & (granule - 1))
}

// @ts-ignore: decorator
@inline
function leftOf(size: u64): u64 {
  if (policy != WEIGHTED_BUDDY) return size >> 1
  // Four parts divide into three and one, three into two and one.
  return popcnt(size) == 1 ? 3 * (size >> 2) : (<u64>1) << (63 - clz(size))
}

// @ts-ignore: decorator
@inline
function isDivisible(size: u64, i: u32): bool {
  if (policy != WEIGHTED_BUDDY) return size > unitOf(i)
  return size > 2 * unit
}

/** Whether a block can be divided until one part has the wanted size. */
// @ts-ignore: decorator
@inline
function canHold(size: u64, wanted: u64, i: u32): bool {
  return size == wanted || (size > wanted && isDivisible(size, i))
}

/** The smallest size of a block that holds so many bytes. @param isAligned whether the block is aligned to its size */
function classOf(bytes: u64, isAligned: bool): u64 {
  const power: u64 = max(unit, (<u64>1) << (64 - clz(bytes - 1)))
  if (policy != DOUBLE_BUDDY && policy != WEIGHTED_BUDDY) return power
  if (policy == DOUBLE_BUDDY && isAligned) return power
  const less = 3 * (power >> 2)
  return power >> 2 >= unit && less >= bytes ? less : power
}

// @ts-ignore: decorator
@inline
function areaOf(size: u64): u32 {
  return policy == DOUBLE_BUDDY && popcnt(size) != 1 ? 1 : 0
}

/** The size of the block for so many bytes, a header included. */
export function buddySize(bytes: u64): u64 {
  return classOf(max(bytes, 2), false)
}

/** Allocates a block: see `give`. @param alignment 0 for that of all blocks @returns false if the heap is too large */
export function buddyAllocate(heap: usize, bytes: u64, alignment: u64): bool {
  // Without a header, a block is aligned to the power of two that its size has in it.
  const needed = alignment == 0 ? bytes : header == 0 ? max(bytes, alignment) : bytes + alignment
  const wanted = classOf(max(needed, 2), alignment != 0)
  const i = areaOf(wanted)
  const area = heap + <usize>i * AREA
  while (true) {
    let node = lowest(load<u32>(area, TREE), wanted, 0)
    if (node != 0 && !canHold(load<u64>(nodeAt(node), SIZE), wanted, i))
      node = lowest(load<u32>(area, TREE), 3 * unit, 0)
    if (node != 0) {
      const at = load<u64>(nodeAt(node), AT)
      const size = load<u64>(nodeAt(node), SIZE)
      drop(area, node)
      return give(baseOf(i) + divide(area, i, at, size, wanted, false), wanted, i)
    }
    const depth = load<u32>(area, DEPTH)
    if (depth == 0) return false
    const entry = area + STACK + ((<usize>(depth - 1)) << 4)
    const at = load<u64>(entry)
    const size = load<u64>(entry, 8)
    store<u32>(area, depth - 1, DEPTH)
    if (canHold(size, wanted, i)) {
      const begins = divide(area, i, at, size, wanted, true)
      extend(area, i, begins + wanted)
      return give(baseOf(i) + begins, wanted, i)
    }
    extend(area, i, at + size)
    merge(area, at, size)
  }
}

/** Divides a block until a part has the wanted size; the others become free, or unused. @returns the part's address */
function divide(area: usize, i: u32, at: u64, size: u64, wanted: u64, isNew: bool): u64 {
  while (size > wanted) {
    const left = leftOf(size)
    const right = size - left
    if ((!isNew && right < left && canHold(right, wanted, i)) || !canHold(left, wanted, i)) {
      add(area, at, left)
      at += left
      size = right
    } else {
      if (isNew) push(area, at + left, right)
      else add(area, at + left, right)
      size = left
    }
  }
  return at
}

function push(area: usize, at: u64, size: u64): void {
  const depth = load<u32>(area, DEPTH)
  const entry = area + STACK + ((<usize>depth) << 4)
  store<u64>(entry, at)
  store<u64>(entry, size, 8)
  store<u32>(area, depth + 1, DEPTH)
}

function add(area: usize, at: u64, size: u64): void {
  store<u32>(area, insert(load<u32>(area, TREE), newNode(at, size), size, at), TREE)
}

function drop(area: usize, node: u32): void {
  store<u32>(area, remove(load<u32>(area, TREE), node), TREE)
  dropNode(node)
}

/** Moves the end of an area. */
function extend(area: usize, i: u32, top: u64): void {
  if (top <= load<u64>(area, TOP)) return
  store<u64>(area, top, TOP)
  const limit = load<u64>(area, LIMIT)
  const end = roundUp(top, page)
  if (end > limit) {
    store<u64>(area, end, LIMIT)
    addUsed(end - limit)
  }
  if (load<u64>(area, SPINE) >= top) return
  let size: u64 = i == 0 ? ROOM : 3 * (ROOM >> 2)
  while (isDivisible(size, i) && leftOf(size) >= top) size = leftOf(size)
  store<u64>(area, size, SPINE)
}

/** Frees a block. */
export function buddyRelease(heap: usize, from: u64, size: u64, i: u32): void {
  merge(heap + <usize>i * AREA, from - baseOf(i), size)
}

/** Adds a free block to those that are free, merged with its buddies. */
function merge(area: usize, at: u64, size: u64): void {
  let here: u64 = 0
  let length = load<u64>(area, SPINE)
  let depth: usize = 0
  while (length > size) {
    const left = leftOf(length)
    const isLeft = at < here + left
    const entry = PATH + (depth << 4)
    store<u64>(entry, isLeft ? here + left : here)
    store<u64>(entry, isLeft ? length - left : left, 8)
    depth++
    if (!isLeft) here += left
    length = isLeft ? left : length - left
  }
  while (depth > 0) {
    const entry = PATH + (--depth << 4)
    const other = load<u64>(entry)
    const otherSize = load<u64>(entry, 8)
    const node = exactly(load<u32>(area, TREE), otherSize, other)
    if (node == 0) break
    drop(area, node)
    at = min(at, other)
    size += otherSize
  }
  add(area, at, size)
}
