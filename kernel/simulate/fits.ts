/**
 * First fit, next fit and best fit: a heap is a row of segments, and a tree has the free ones. The memory after the
 * last segment is taken only if no free segment is large enough.
 */
import { AT, BITS, CLASS, dropNode, KEY, newNode, NEXT, nodeAt, PREVIOUS, SIZE, STATE } from './nodes'
import * as Settings from './settings'
import { firstFrom, insert, lowest, passed, rank, remove, replace, replaceFound, treeCount } from './tree'

/** A heap: its tree of free segments, its last segment, its end, and the end of its memory from the system. */
const TREE: usize = 0
const LAST: usize = 4
const TOP: usize = 8
const LIMIT: usize = 16
/** The start of the next search of next fit. */
const ROVER: usize = 24
/** The first free segment that waits to be merged with its neighbours, the number of waiting and of used segments. */
const WAITING: usize = 32
const WAITERS: usize = 36
const BLOCKS: usize = 40
/** The size of a heap, as a logarithm. */
export const FIT_HEAP: u32 = 6

const FREE: u32 = 1
const WAITS: u32 = 2
/** Beyond the number of blocks, at most this many free segments wait. */
const PATIENCE: u32 = 1024

/** Numbers the segments in the order in which they become free. */
let sequence: u64 = 0

/** The sizes of segments. */
let least: u64 = 16
let head: u64 = 0

/** Begins a simulation. */
export function startFits(): void {
  sequence = 0
  // The spans of size classes are segments of whole pages.
  least = Settings.policy == Settings.SEGREGATED ? Settings.page : Settings.smallest
  head = Settings.policy == Settings.SEGREGATED ? 0 : Settings.header
}

/** Makes a heap in zeroed memory. */
export function makeFit(heap: usize): void {
  const base = Settings.BASE + ((Settings.granule - (head & (Settings.granule - 1))) & (Settings.granule - 1))
  store<u64>(heap, base, TOP)
  store<u64>(heap, Settings.BASE, LIMIT)
}

/** Returns the memory of a heap without blocks. */
export function resetFit(heap: usize): void {
  mergeWaiting(heap)
  assert(load<u32>(heap, LAST) == 0 && load<u32>(heap, TREE) == 0)
  Settings.addUsed(Settings.BASE - load<u64>(heap, LIMIT))
  store<u64>(heap, 0, ROVER)
  makeFit(heap)
}

function list(heap: usize, node: u32, sequenced: u64): void {
  const at = nodeAt(node)
  store<u32>(at, load<u32>(at, STATE) | FREE, STATE)
  const address = load<u64>(at, AT)
  let key = address
  let key2: u64 = 0
  if (Settings.policy == Settings.BEST_FIT) {
    key = load<u64>(at, SIZE)
    key2 = address
  } else if (Settings.policy == Settings.FIRST_FIT && Settings.order != Settings.BY_ADDRESS) key = sequenced
  store<u32>(heap, insert(load<u32>(heap, TREE), node, key, key2), TREE)
}

function newKey(): u64 {
  sequence++
  return Settings.order == Settings.FIFO ? sequence : ~sequence
}

/** Whether the free segments are in the order of their addresses. */
function isByAddress(): bool {
  return (
    Settings.policy != Settings.BEST_FIT &&
    (Settings.policy != Settings.FIRST_FIT || Settings.order == Settings.BY_ADDRESS)
  )
}

/** Replaces a free segment of this size in the tree by one with no other segment between them. */
function listInstead(heap: usize, other: u32, size: u64, node: u32, key: u64): void {
  store<u32>(nodeAt(other), 0, STATE)
  store<u32>(nodeAt(node), FREE, STATE)
  replace(load<u32>(heap, TREE), other, size, node, key)
}

/** Takes a free segment out of the tree. */
function unlist(heap: usize, node: u32): void {
  store<u32>(heap, remove(load<u32>(heap, TREE), node), TREE)
  const at = nodeAt(node)
  const state = load<u32>(at, STATE)
  store<u32>(at, 0, STATE)
  if ((state & WAITS) == 0) return
  const before = load<u32>(at, CLASS)
  const after = load<u32>(at, BITS)
  if (before != 0) store<u32>(nodeAt(before), after, BITS)
  else store<u32>(heap, after, WAITING)
  if (after != 0) store<u32>(nodeAt(after), before, CLASS)
  store<u32>(heap, load<u32>(heap, WAITERS) - 1, WAITERS)
}

/** Makes a free segment that is in no tree wait to be merged. */
function wait(heap: usize, node: u32, key: u64): void {
  const at = nodeAt(node)
  const first = load<u32>(heap, WAITING)
  store<u32>(at, WAITS, STATE)
  store<u32>(at, 0, CLASS)
  store<u32>(at, first, BITS)
  if (first != 0) store<u32>(nodeAt(first), node, CLASS)
  store<u32>(heap, node, WAITING)
  store<u32>(heap, load<u32>(heap, WAITERS) + 1, WAITERS)
  list(heap, node, key)
}

/** Merges all free segments that wait. */
function mergeWaiting(heap: usize): void {
  while (true) {
    const node = load<u32>(heap, WAITING)
    if (node == 0) return
    unlist(heap, node)
    merge(heap, node)
  }
}

/**
 * Merges a segment with a free neighbour whose place in the tree is already right.
 * @returns false if there is no such neighbour, or the segment is the last one
 */
function mergeInPlace(heap: usize, node: u32): bool {
  const at = nodeAt(node)
  const before = load<u32>(at, PREVIOUS)
  const after = load<u32>(at, NEXT)
  if (after == 0) return false
  const isBefore = before != 0 && (load<u32>(nodeAt(before), STATE) & FREE) != 0
  const isAfter = (load<u32>(nodeAt(after), STATE) & FREE) != 0
  if (isBefore && isAfter) absorb(heap, node, after)
  else if (!isBefore && !isAfter) return false
  const other = isBefore ? before : after
  const size = load<u64>(nodeAt(other), SIZE)
  if (isBefore) store<u64>(at, load<u64>(nodeAt(before), AT), AT)
  store<u64>(at, load<u64>(at, SIZE) + size, SIZE)
  listInstead(heap, other, size, node, load<u64>(at, AT))
  detach(heap, other)
  return true
}

/** Extends a segment over the free one after it. */
function absorb(heap: usize, node: u32, after: u32): void {
  const at = nodeAt(node)
  unlist(heap, after)
  store<u64>(at, load<u64>(at, SIZE) + load<u64>(nodeAt(after), SIZE), SIZE)
  detach(heap, after)
}

/** Frees a segment that is in no tree, and merges it with all free segments before and after it. */
function merge(heap: usize, node: u32): void {
  if (!Settings.isDeferred && isByAddress() && mergeInPlace(heap, node)) return
  const at = nodeAt(node)
  // Where segments wait, more than one neighbour on each side may be free.
  let before = load<u32>(at, PREVIOUS)
  while (before != 0 && (load<u32>(nodeAt(before), STATE) & FREE) != 0) {
    unlist(heap, before)
    store<u64>(at, load<u64>(nodeAt(before), AT), AT)
    store<u64>(at, load<u64>(at, SIZE) + load<u64>(nodeAt(before), SIZE), SIZE)
    detach(heap, before)
    before = load<u32>(at, PREVIOUS)
  }
  let after = load<u32>(at, NEXT)
  while (after != 0 && (load<u32>(nodeAt(after), STATE) & FREE) != 0) {
    absorb(heap, node, after)
    after = load<u32>(at, NEXT)
  }
  if (load<u32>(heap, LAST) != node) return list(heap, node, newKey())
  store<u64>(heap, load<u64>(at, AT), TOP)
  detach(heap, node)
  const limit = load<u64>(heap, LIMIT)
  const end = Settings.roundUp(load<u64>(heap, TOP) - Settings.BASE, Settings.page) + Settings.BASE
  if (limit - end < Settings.trim || limit == end) return
  store<u64>(heap, end, LIMIT)
  Settings.addUsed(end - limit)
}

/** Removes a segment from the row. */
function detach(heap: usize, node: u32): void {
  const before = load<u32>(nodeAt(node), PREVIOUS)
  const after = load<u32>(nodeAt(node), NEXT)
  if (before != 0) store<u32>(nodeAt(before), after, NEXT)
  if (after != 0) store<u32>(nodeAt(after), before, PREVIOUS)
  else store<u32>(heap, before, LAST)
  dropNode(node)
}

/** A new segment after another one. @param before 0: it is the first of the row */
function attach(heap: usize, before: u32, at: u64, size: u64): u32 {
  const node = newNode(at, size)
  const after = before == 0 ? 0 : load<u32>(nodeAt(before), NEXT)
  store<u32>(nodeAt(node), before, PREVIOUS)
  store<u32>(nodeAt(node), after, NEXT)
  if (before != 0) store<u32>(nodeAt(before), node, NEXT)
  if (after != 0) store<u32>(nodeAt(after), node, PREVIOUS)
  else store<u32>(heap, node, LAST)
  return node
}

function search(heap: usize, size: u64): u32 {
  const tree = load<u32>(heap, TREE)
  if (Settings.policy == Settings.BEST_FIT) {
    Settings.noteSearch(treeCount(tree))
    return lowest(tree, size, 0)
  }
  let skipped: u32 = 0
  if (Settings.policy == Settings.NEXT_FIT) {
    const from = load<u64>(heap, ROVER)
    const found = firstFrom(tree, from, size)
    if (found != 0) {
      Settings.noteSearch(passed + 1)
      return found
    }
    // The search continues from the first segment up to the one where it began.
    skipped = rank(tree, from)
  }
  const found = firstFrom(tree, 0, size)
  const all = treeCount(tree)
  if (Settings.policy == Settings.NEXT_FIT) Settings.noteSearch(found == 0 ? all : all - skipped + passed + 1)
  else if (Settings.policy == Settings.FIRST_FIT) Settings.noteSearch(found == 0 ? all : passed + 1)
  return found
}

/** The bytes before an aligned block that starts in free memory: none, or enough for a segment. */
function leadOf(at: u64, alignment: u64): u64 {
  const lead = Settings.roundUp(at + head, alignment) - head - at
  return lead != 0 && lead < least ? lead + Settings.roundUp(least - lead, alignment) : lead
}

/**
 * Allocates a segment.
 * @param alignment of the block in it; 0 for the default
 * @returns 0 if the heap would be too large
 */
export function fitAllocate(heap: usize, size: u64, alignment: u64): u32 {
  const wanted = alignment == 0 ? size : size + 2 * alignment + least
  let node = search(heap, wanted)
  if (node == 0 && load<u32>(heap, WAITING) != 0) {
    mergeWaiting(heap)
    node = search(heap, wanted)
  }
  let key: u64 = 0
  let lead: u64 = 0
  if (node != 0) {
    const at = nodeAt(node)
    key = load<u64>(at, KEY)
    const has = load<u64>(at, SIZE)
    if (alignment == 0 && !Settings.isDeferred && Settings.policy != Settings.BEST_FIT && has - size >= least)
      return divide(heap, node, size)
    unlist(heap, node)
    if (alignment != 0) lead = leadOf(load<u64>(at, AT), alignment)
  } else {
    const top = load<u64>(heap, TOP)
    if (alignment != 0) lead = leadOf(top, alignment)
    if (!extend(heap, size + lead)) return 0
    node = attach(heap, load<u32>(heap, LAST), top, size + lead)
  }
  store<u32>(heap, load<u32>(heap, BLOCKS) + 1, BLOCKS)
  if (lead != 0) {
    const first = node
    const at = nodeAt(first)
    node = attach(heap, first, load<u64>(at, AT) + lead, load<u64>(at, SIZE) - lead)
    store<u64>(at, lead, SIZE)
    if (Settings.isDeferred) wait(heap, first, newKey())
    else merge(heap, first)
  }
  const at = nodeAt(node)
  const rest = load<u64>(at, SIZE) - size
  if (rest >= least) {
    store<u64>(at, size, SIZE)
    if (load<u32>(heap, LAST) == node) store<u64>(heap, load<u64>(at, AT) + size, TOP)
    else {
      const tail = attach(heap, node, load<u64>(at, AT) + size, rest)
      if (Settings.isDeferred) wait(heap, tail, key)
      else list(heap, tail, key)
    }
  }
  store<u64>(heap, load<u64>(at, AT) + load<u64>(at, SIZE), ROVER)
  return node
}

/** Allocates the first part of the free segment that was found. The rest keeps its place in the tree. */
function divide(heap: usize, node: u32, size: u64): u32 {
  const has = load<u64>(nodeAt(node), SIZE)
  const end = load<u64>(nodeAt(node), AT) + size
  const rest = attach(heap, node, end, has - size)
  store<u64>(nodeAt(node), size, SIZE)
  store<u32>(nodeAt(node), 0, STATE)
  store<u32>(nodeAt(rest), FREE, STATE)
  replaceFound(load<u32>(heap, TREE), has, rest, isByAddress() ? end : load<u64>(nodeAt(node), KEY))
  store<u32>(heap, load<u32>(heap, BLOCKS) + 1, BLOCKS)
  store<u64>(heap, end, ROVER)
  return node
}

/** Moves the end of a heap. @returns false if it would be too large */
function extend(heap: usize, bytes: u64): bool {
  const top = load<u64>(heap, TOP) + bytes
  if (top > Settings.BASE + Settings.ROOM) return false
  store<u64>(heap, top, TOP)
  const limit = load<u64>(heap, LIMIT)
  if (top <= limit) return true
  const end = Settings.roundUp(top - Settings.BASE, Settings.page) + Settings.BASE
  store<u64>(heap, end, LIMIT)
  Settings.addUsed(end - limit)
  return true
}

/** Frees a segment. */
export function fitRelease(heap: usize, node: u32): void {
  store<u32>(heap, load<u32>(heap, BLOCKS) - 1, BLOCKS)
  if (!Settings.isDeferred) return merge(heap, node)
  wait(heap, node, newKey())
  if (load<u32>(heap, WAITERS) > load<u32>(heap, BLOCKS) + PATIENCE) mergeWaiting(heap)
}

/** Resizes a segment in place. @returns false if that is impossible */
export function fitResize(heap: usize, node: u32, size: u64): bool {
  const at = nodeAt(node)
  const has = load<u64>(at, SIZE)
  const isLast = load<u32>(heap, LAST) == node
  if (size > has) {
    if (isLast) {
      if (!extend(heap, size - has)) return false
      store<u64>(at, size, SIZE)
      return true
    }
    const after = load<u32>(at, NEXT)
    const next = nodeAt(after)
    if ((load<u32>(next, STATE) & FREE) == 0 || has + load<u64>(next, SIZE) < size) return false
    unlist(heap, after)
    store<u64>(at, has + load<u64>(next, SIZE), SIZE)
    detach(heap, after)
  }
  const rest = load<u64>(at, SIZE) - size
  if (rest < least) return true
  store<u64>(at, size, SIZE)
  const tail = attach(heap, node, load<u64>(at, AT) + size, rest)
  if (Settings.isDeferred) wait(heap, tail, newKey())
  else merge(heap, tail)
  return true
}
