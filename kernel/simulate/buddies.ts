/**
 * Buddy systems. An area is a tree of blocks, each of which can be divided into a left and a right part in one way. The
 * unused part of the area is a stack of blocks, the lowest on top.
 */
import { add as addTo, first, has, remove as removeFrom } from './sets'
import * as Settings from './settings'

/** An area: the number of blocks on its stack, its end, and the end of its memory from the system. */
const DEPTH: usize = 4
const TOP: usize = 8
const LIMIT: usize = 16
/** The smallest block at the start of the area that contains all blocks used so far. */
const SPINE: usize = 24
/** The sizes of free blocks, by their logarithms: powers of two, and three times these. */
const TWOS: usize = 32
const THREES: usize = 40
/** The sets of free blocks of each size. A set has addresses divided by the power of two that all of them contain. */
const TWO_SETS: usize = 48
const THREE_SETS: usize = TWO_SETS + 46 * 8
/** The stack: address and size of each block. */
const STACK: usize = THREE_SETS + 46 * 8
const AREA: usize = 4096
/** The size of a heap of two areas, as a logarithm. */
export const BUDDY_HEAP: u32 = 13

/** The smallest block, a power of two. */
let unit: u64 = 16
/** The siblings of a block and of the blocks that contain it: address and size. */
const PATH: usize = memory.data(2048)

/** Begins a simulation, with a smallest block of a power of two. */
export function startBuddies(): void {
  unit = max(Settings.smallest, Settings.granule)
}

/** Makes a heap in zeroed memory. */
export function makeBuddy(heap: usize): void {
  for (let i: usize = 0; i < 2; i++) {
    const area = heap + i * AREA
    const size = i == 0 ? Settings.ROOM : 3 * (Settings.ROOM >> 2)
    store<u32>(area, 1, DEPTH)
    store<u64>(area + STACK, 0)
    store<u64>(area + STACK, size, 8)
    store<u64>(area, unitOf(<u32>i), SPINE)
  }
}

/** Returns the memory of a heap without blocks. */
export function resetBuddy(heap: usize): void {
  for (let area = heap; area <= heap + AREA; area += AREA) {
    for (let size = smallestFree(area, 1); size != 0; size = smallestFree(area, 1))
      drop(area, lowestFree(area, size), size)
    Settings.addUsed(0 - load<u64>(area, LIMIT))
  }
  memory.fill(heap, 0, (<usize>1) << BUDDY_HEAP)
  makeBuddy(heap)
}

function unitOf(i: u32): u64 {
  return i == 0 ? unit : 3 * unit
}

/** The address at which blocks of an area begin. The second area has only sizes that are three times a power of two. */
function baseOf(i: u32): u64 {
  return (
    (i == 0 ? Settings.BASE : 2 * Settings.BASE) +
    ((Settings.granule - (Settings.header & (Settings.granule - 1))) & (Settings.granule - 1))
  )
}

// @ts-ignore: decorator
@inline
function leftOf(size: u64): u64 {
  if (Settings.policy != Settings.WEIGHTED_BUDDY) return size >> 1
  // Four parts divide into three and one, three into two and one.
  return popcnt(size) == 1 ? 3 * (size >> 2) : (<u64>1) << (63 - clz(size))
}

function isDivisible(size: u64, i: u32): bool {
  if (Settings.policy != Settings.WEIGHTED_BUDDY) return size > unitOf(i)
  return size > 2 * unit
}

/** Whether a block can be divided until one part has the wanted size. */
function canHold(size: u64, wanted: u64, i: u32): bool {
  return size == wanted || (size > wanted && isDivisible(size, i))
}

/** The smallest size of a block that holds these bytes. @param isAligned whether the block is aligned to its size */
function classOf(bytes: u64, isAligned: bool): u64 {
  const power: u64 = max(unit, (<u64>1) << (64 - clz(bytes - 1)))
  if (Settings.policy != Settings.DOUBLE_BUDDY && Settings.policy != Settings.WEIGHTED_BUDDY) return power
  if (Settings.policy == Settings.DOUBLE_BUDDY && isAligned) return power
  const less = 3 * (power >> 2)
  return power >> 2 >= unit && less >= bytes ? less : power
}

function areaOf(size: u64): u32 {
  return Settings.policy == Settings.DOUBLE_BUDDY && popcnt(size) != 1 ? 1 : 0
}

/** The size of the block for these bytes and a header. */
export function buddySize(bytes: u64): u64 {
  return classOf(max(bytes, 2), false)
}

/** Allocates a block: see `give`. @param alignment 0 for the default @returns false if the heap is too large */
export function buddyAllocate(heap: usize, bytes: u64, alignment: u64): bool {
  // Without a header, a block is aligned to the largest power of two that divides its size.
  const needed = alignment == 0 ? bytes : Settings.header == 0 ? max(bytes, alignment) : bytes + alignment
  const wanted = classOf(max(needed, 2), alignment != 0)
  const i = areaOf(wanted)
  const area = heap + <usize>i * AREA
  while (true) {
    let free = smallestFree(area, wanted)
    if (free != 0 && !canHold(free, wanted, i)) free = smallestFree(area, 3 * unit)
    if (free != 0) {
      const lowest = lowestFree(area, free)
      drop(area, lowest, free)
      return Settings.give(baseOf(i) + divide(area, i, lowest, free, wanted, false), wanted, i)
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
      return Settings.give(baseOf(i) + begins, wanted, i)
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

/** The smallest size, from a given one on, with a free block; 0 if there is none. */
function smallestFree(area: usize, least: u64): u64 {
  const twos = load<u64>(area, TWOS) & (~(<u64>0) << (64 - clz(least - 1)))
  const threes = load<u64>(area, THREES) & (~(<u64>0) << (64 - clz((least + 2) / 3 - 1)))
  if (threes == 0) return twos == 0 ? 0 : (<u64>1) << ctz(twos)
  const other = (<u64>3) << ctz(threes)
  return twos == 0 ? other : min((<u64>1) << ctz(twos), other)
}

/** The set of the free blocks of a size, whose addresses are multiples of the largest power of two in it. */
// @ts-ignore: decorator
@inline
function setOf(area: usize, size: u64): usize {
  return area + (popcnt(size) == 1 ? TWO_SETS : THREE_SETS) + ((<usize>ctz(size)) << 3)
}

/** The lowest free block of a size that has one. */
// @ts-ignore: decorator
@inline
function lowestFree(area: usize, size: u64): u64 {
  return first(setOf(area, size)) << ctz(size)
}

// @ts-ignore: decorator
@inline
function isFree(area: usize, at: u64, size: u64): bool {
  return has(setOf(area, size), at >> ctz(size))
}

function add(area: usize, at: u64, size: u64): void {
  addTo(setOf(area, size), at >> ctz(size))
  const sizes = area + (popcnt(size) == 1 ? TWOS : THREES)
  store<u64>(sizes, load<u64>(sizes) | ((<u64>1) << ctz(size)))
}

function drop(area: usize, at: u64, size: u64): void {
  const set = setOf(area, size)
  removeFrom(set, at >> ctz(size))
  if (load<u32>(set) != 0) return
  const sizes = area + (popcnt(size) == 1 ? TWOS : THREES)
  store<u64>(sizes, load<u64>(sizes) & ~((<u64>1) << ctz(size)))
}

/** Moves the end of an area. */
function extend(area: usize, i: u32, top: u64): void {
  if (top <= load<u64>(area, TOP)) return
  store<u64>(area, top, TOP)
  const limit = load<u64>(area, LIMIT)
  const end = Settings.roundUp(top, Settings.page)
  if (end > limit) {
    store<u64>(area, end, LIMIT)
    Settings.addUsed(end - limit)
  }
  if (load<u64>(area, SPINE) >= top) return
  let size: u64 = i == 0 ? Settings.ROOM : 3 * (Settings.ROOM >> 2)
  while (isDivisible(size, i) && leftOf(size) >= top) size = leftOf(size)
  store<u64>(area, size, SPINE)
}

/** Frees a block. */
export function buddyRelease(heap: usize, from: u64, size: u64, i: u32): void {
  merge(heap + <usize>i * AREA, from - baseOf(i), size)
}

/** Adds a free block to its set, merged with its buddies. */
function merge(area: usize, at: u64, size: u64): void {
  if (Settings.policy == Settings.WEIGHTED_BUDDY) mergeWeighted(area, at, size)
  else mergeHalves(area, at, size)
}

/** Where blocks are divided into halves, two buddies have neighbouring numbers. */
function mergeHalves(area: usize, at: u64, size: u64): void {
  const most = load<u64>(area, SPINE)
  let number = at / size
  while (size < most) {
    const other = (number ^ 1) * size
    if (!isFree(area, other, size)) break
    drop(area, other, size)
    number >>= 1
    size <<= 1
  }
  add(area, number * size, size)
}

function mergeWeighted(area: usize, at: u64, size: u64): void {
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
    if (!isFree(area, other, otherSize)) break
    drop(area, other, otherSize)
    at = min(at, other)
    size += otherSize
  }
  add(area, at, size)
}
