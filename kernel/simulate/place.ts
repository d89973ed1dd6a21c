/**
 * Gives the blocks of a batch the addresses that they have under a policy, after the live set has followed the batch.
 * Each address space has a heap.
 */
import { seed as seedHashes } from '../allocators/hash'
import { BEGAN, DONE, FAILED, NO_SPACE, REUSED, UNKNOWN } from '../../lib/kernel/layouts/live'
import { CLASS_ROWS, EXHAUSTED, SEVERAL, TOO_LARGE } from '../../lib/kernel/layouts/simulate'
import { BEGUN, EFFECTS, ENDED, nextGone, numbers } from '../live/follow'
import { SPACES } from '../live/keys'
import { blockAt, makeBlocks } from '../live/records'
import { ADDRESS, ALIGNMENT, KIND, MASK, OLD_ADDRESS, OUTCOME, SIZE } from '../shared/columns'
import * as Event from '../shared/event'
import { AHEAD, readAhead } from './ahead'
import { arenaResize, arenas, noteBegin, noteEnd, startArenas } from './arenas'
import { startBuddies } from './buddies'
import { clearFigures, countSize, gain, lose, noteChange } from './figures'
import { startFits } from './fits'
import { discardHeaps, heapAt, heapOf, noHeap, resetHeap } from './heaps'
import { clearNodes, makeNodes } from './nodes'
import { addPages, clearPages, keepPages, makePages, removePages } from './pages'
import { addressOf, allocate, isInArena, release, resize } from './policy'
import * as Settings from './settings'
import { kindOf, startSpans } from './spans'
import { clearSets, makeSets } from './sets'
import { clearTrees, makeTrees } from './tree-pages'
import { endThread, enterThreadOf, isWhole, startWhole, wholeFault, wholeResize } from './whole'

/** Of a live block: its address, requested size, start and granted size in the heap, its heap, and node or arena. */
const B_ADDRESS: usize = 0
const B_SIZE: usize = 8
const B_START: usize = 16
const B_GRANTED: usize = 24
const B_HEAP: usize = 32
const B_PLACE: usize = 36
/** With arenas, the time when it began. */
const B_BIRTH: usize = 40

/**
 * Per row, the address of a block that must be freed before the event, because the trace reuses the block's address.
 */
export const FREED_BEFORE: usize = memory.data(32960)
/** The number of such rows. */
export let freedBefore: u32 = 0

/** The reason why a row could not be placed, 0 if all were. */
export let fault: u32 = 0

/** The number of blocks with an impossible alignment, which are placed without it. */
export let unaligned: f64 = 0

/** The number of events about blocks that are not live, and of reallocs in place and elsewhere. */
export let unknowns: f64 = 0
export let inPlace: f64 = 0
export let moved: f64 = 0

/** The number of events before the current rows. */
let events: f64 = 0
/** With more blocks than this, data that rows need is read ahead. */
const MANY: u32 = 4096
/** The maximum number of nodes that one event needs. */
const NODES: u32 = 256
/**
 * The maximum number of pages of sets that one event needs. Dividing a block adds two free ones at most each time that
 * its size halves. Where it is a multiple of 2^k, numbers are below 2^(45 - k), and take 12 pages at most for k up to
 * 2, 10 for k up to 8, and so on: these are 456 pages. Freeing a block adds one number, and an event frees two blocks
 * at most.
 */
const SET_PAGES: u32 = 512

/**
 * Begins a simulation, and discards the previous one.
 * @param classes the number of size classes, which are in `CLASSES`
 * @param version of a whole allocator: the minor version of glibc, or jemalloc's version
 * @param bits of a word, and whether threads have caches: of jemalloc
 * @returns false if memory is exhausted
 */
export function begin(
  newPolicy: i32,
  order: i32,
  isDeferred: bool,
  newHeader: u32,
  alignment: u32,
  newSmallest: u32,
  newPage: u32,
  trim: f64,
  classes: u32,
  version: i32,
  bits: i32,
  hasCaches: bool,
  seed: u32,
): bool {
  seedHashes(seed, seed)
  discardHeaps()
  Settings.setSettings(
    newPolicy,
    order,
    isDeferred,
    newHeader,
    alignment,
    newSmallest,
    newPage,
    trim < 0 ? ~(<u64>0) : <u64>trim,
  )
  events = unknowns = inPlace = moved = unaligned = 0
  fault = 0
  Settings.clearSearches()
  clearFigures()
  startFits()
  startBuddies()
  startSpans(classes)
  startArenas()
  if (isWhole() && !startWhole(version, bits, hasCaches)) return false
  return clearNodes() && clearTrees() && clearSets() && clearPages()
}

/** The pages of a block: from its start to the end of what was requested. */
function touched(block: usize): u64 {
  const from = load<u64>(block, B_START)
  return max<u64>(load<u64>(block, B_ADDRESS) + load<u64>(block, B_SIZE) - from, 1)
}

function enter(row: usize, block: usize, heap: u32, address: u64, size: u64): void {
  store<u64>(block, address, B_ADDRESS)
  store<u64>(block, size, B_SIZE)
  store<u64>(block, Settings.start, B_START)
  store<u64>(block, Settings.granted, B_GRANTED)
  store<u32>(block, heap, B_HEAP)
  store<u32>(block, Settings.place, B_PLACE)
  gain(size, Settings.granted)
  countSize(size, Settings.granted, Settings.policy == Settings.SEGREGATED ? kindOf(Settings.granted) : CLASS_ROWS)
  addPages(heap, Settings.start, touched(block))
  if (arenas != 0) store<f64>(block, noteBegin(row, Settings.place, size), B_BIRTH)
}

/** The address of a block. A free in a kernel may confuse pages and objects, which are in different places. */
function shown(block: usize): u64 {
  return load<u64>(block, B_ADDRESS) | ((<u64>(load<u32>(block, B_HEAP) >> 15)) << 47)
}

function leave(block: usize, isFreed: bool = true): void {
  noteLeaving(block, isFreed)
  removePages(load<u32>(block, B_HEAP), load<u64>(block, B_START), touched(block))
}

/** The same, but its pages stay. */
function noteLeaving(block: usize, isFreed: bool): void {
  if (arenas != 0) noteEnd(load<f64>(block, B_BIRTH), load<u32>(block, B_PLACE), load<u64>(block, B_SIZE), isFreed)
  lose(load<u64>(block, B_SIZE), load<u64>(block, B_GRANTED))
}

function releaseBlock(block: usize): void {
  release(
    heapAt(load<u32>(block, B_HEAP)),
    load<u64>(block, B_START),
    load<u64>(block, B_GRANTED),
    load<u32>(block, B_PLACE),
  )
}

/**
 * Places the rows from 0 on, and writes their addresses into the columns.
 * @returns the number of rows that have been placed; fewer than there are if there is a `fault`
 */
export function placeRows(rows: u32): u32 {
  freedBefore = 0
  fault = 0
  if (!makeBlocks(numbers)) {
    fault = EXHAUSTED
    return 0
  }
  const isLarge = Settings.policy != Settings.IDEAL && numbers > MANY
  for (let row: usize = 0; row < <usize>rows; row++) {
    if (isLarge && row % AHEAD == 0)
      readAhead(row, min(row + AHEAD, <usize>rows), B_PLACE, Settings.policy < Settings.BINARY_BUDDY)
    store<u64>(FREED_BEFORE + (row << 3), 0)
    const kind = load<u8>(KIND + row)
    // The first thread with an event about blocks is the main one, whatever comments come before.
    if (isWhole() && (kind <= Event.KIND_EXISTING || kind == Event.KIND_THREAD_DESTROY)) {
      enterThreadOf(row)
      // Threads of other processes may have the same number.
      if (kind == Event.KIND_THREAD_DESTROY && hasHeap(row)) endThread()
    }
    if (kind == Event.KIND_PROCESS_END && !endProcess(row)) fault = EXHAUSTED
    if (fault != 0) return <u32>row
    if (kind > Event.KIND_EXISTING) continue
    if (!makeRoom()) fault = EXHAUSTED
    else if (Settings.policy == Settings.IDEAL) fault = countRow(row)
    else {
      fault = placeRow(row)
      if (fault == TOO_LARGE && isWhole()) fault = wholeFault()
    }
    if (fault != 0) return <u32>row
  }
  events += <f64>rows
  return rows
}

/** Makes room for everything that one event can need. @returns false if memory is exhausted */
// @ts-ignore: decorator
@inline
function makeRoom(): bool {
  return makeNodes(NODES) && makeTrees(2 * NODES) && makeSets(SET_PAGES) && makePages()
}

/** The alignment of a new block; 0 for the default. Counts an impossible one. */
function alignmentOf(row: usize, mask: u32): u64 {
  const alignment = (mask & Event.HAS_ALIGNMENT) != 0 ? load<u64>(ALIGNMENT + (row << 3)) : 0
  if (alignment == 0 || (popcnt(alignment) == 1 && alignment <= Settings.ROOM)) return alignment
  unaligned++
  return 0
}

/** Allocates a block in the heap of an address space. @returns 0 or a fault */
function allocateAt(row: usize, block: usize, space: u32, size: u64, alignment: u64): u32 {
  const heap = heapOf(space)
  if (heap == 0) return noHeap()
  const failed = allocate(heap, size, alignment, row)
  if (failed == 0) enter(row, block, space, addressOf(alignment), size)
  return failed
}

/** Whether the last realloc left its block in place. */
let stays: bool = false

/** Resizes a block in place or elsewhere. @param block the same one, or another number for it @returns 0 or a fault */
function reallocate(row: usize, old: usize, block: usize, space: u32, size: u64): u32 {
  const heap = load<u32>(old, B_HEAP)
  const room = heapAt(heap)
  const from = load<u64>(old, B_START)
  const bytes = load<u64>(old, B_GRANTED)
  const node = load<u32>(old, B_PLACE)
  const at = load<u64>(old, B_ADDRESS)
  const inUse = touched(old)
  noteLeaving(old, true)
  keepPages(heap, from, inUse)
  if (isWhole()) {
    // By its index, a block may be resized by another process.
    if (heap != space) return SEVERAL
    if (size > Settings.ROOM || !wholeResize(node, size)) return TOO_LARGE
    stays = addressOf(0) == at
    enter(row, block, heap, addressOf(0), size)
  } else {
    stays =
      heap == space &&
      (isInArena(node) ? arenaResize(row, from, bytes, node, size) : resize(room, from, bytes, node, size, at))
    if (stays) enter(row, block, heap, at, size)
    else {
      const failed = allocateAt(row, block, space, size, 0)
      if (failed != 0) return failed
      release(room, from, bytes, node)
    }
  }
  removePages(heap, from, inUse)
  if (stays) inPlace++
  else moved++
  return 0
}

function placeRow(row: usize): u32 {
  const effect = <u32>load<u8>(EFFECTS + row)
  let mask = load<u32>(MASK + (row << 2)) & ~Event.HAS_USABLE
  const ended = load<u32>(ENDED + (row << 2))
  const isRealloc = load<u8>(KIND + row) == Event.KIND_REALLOC
  const old = blockAt(ended)
  const oldAddress = shown(old)
  let isKnown = ended != 0
  if ((effect & UNKNOWN) != 0) {
    unknowns++
    isKnown = false
    mask &= ~Event.HAS_OLD_ADDRESS
    if ((effect & BEGAN) == 0) mask &= ~Event.HAS_ADDRESS
  }
  const space = load<u32>(SPACES + (row << 2)) >> 16
  if ((effect & BEGAN) != 0) {
    const size = (mask & Event.HAS_SIZE) != 0 ? load<u64>(SIZE + (row << 3)) : 0
    const block = blockAt(load<u32>(BEGUN + (row << 2)))
    if ((effect & REUSED) != 0) {
      store<u64>(FREED_BEFORE + (row << 3), shown(block))
      freedBefore++
      leave(block)
      releaseBlock(block)
    }
    const failed = isKnown
      ? reallocate(row, old, block, space, size)
      : allocateAt(row, block, space, size, alignmentOf(row, mask))
    if (failed != 0) return failed
    store<u64>(ADDRESS + (row << 3), shown(block))
    mask |= Event.HAS_ADDRESS
    if (isRealloc) {
      if (isKnown) {
        store<u64>(OLD_ADDRESS + (row << 3), oldAddress)
        mask |= Event.HAS_OLD_ADDRESS
      } else store<u64>(OLD_ADDRESS + (row << 3), 0)
      if ((mask & Event.HAS_OUTCOME) != 0)
        store<u8>(OUTCOME + row, !isKnown ? Event.OUTCOME_ALLOCATED : stays ? Event.OUTCOME_NONE : Event.OUTCOME_MOVED)
    }
    noteChange(events + <f64>row + 1)
  } else if ((effect & DONE) != 0 && isKnown) {
    leave(old)
    releaseBlock(old)
    nameOld(row, isRealloc, oldAddress)
    mask |= isRealloc ? Event.HAS_OLD_ADDRESS : Event.HAS_ADDRESS
    noteChange(events + <f64>row + 1)
  } else if ((effect & FAILED) != 0 && isRealloc) nameOld(row, true, isKnown ? oldAddress : 0)
  store<u32>(MASK + (row << 2), mask)
  return 0
}

/** Whether the process of a row has a heap. */
function hasHeap(row: usize): bool {
  const space = load<i32>(SPACES + (row << 2))
  return space != NO_SPACE && heapAt((<u32>space) >> 16) != 0
}

/** Ends a process, with its live blocks and its heap. @returns whether there was memory */
function endProcess(row: usize): bool {
  const space = load<i32>(SPACES + (row << 2))
  if (space == NO_SPACE) return true
  let hasEnded = false
  for (let number = nextGone(<u32>row); number != 0; number = nextGone(<u32>row)) {
    if (!makeRoom()) return false
    const block = blockAt(number)
    const size = load<u64>(block, B_SIZE)
    if (Settings.policy == Settings.IDEAL) {
      lose(size, size)
      Settings.addUsed(0 - size)
    } else {
      leave(block, false)
      releaseBlock(block)
    }
    hasEnded = true
  }
  const heap = (<u32>space) >> 16
  // Pages from a kernel's page allocator have a separate heap.
  if (!resetHeap(heap) || !resetHeap(heap ^ 0x8000)) return false
  if (hasEnded) noteChange(events + <f64>row + 1)
  return true
}

/** Sets the address of the block that an event frees, or fails to resize. */
function nameOld(row: usize, isRealloc: bool, address: u64): void {
  store<u64>((isRealloc ? OLD_ADDRESS : ADDRESS) + (row << 3), address)
  if (isRealloc) store<u64>(ADDRESS + (row << 3), 0)
}

/**
 * Counts a row for the lower bound of all policies: the memory needed if all blocks were compacted at each event.
 * @returns 0 or a fault
 */
function countRow(row: usize): u32 {
  const effect = <u32>load<u8>(EFFECTS + row)
  const begins = (effect & BEGAN) != 0
  const ends = (effect & DONE) != 0
  const block = blockAt(load<u32>(BEGUN + (row << 2)))
  const freed = ends ? load<u64>(blockAt(load<u32>(ENDED + (row << 2))), B_SIZE) : 0
  const replaced = (effect & REUSED) != 0 ? load<u64>(block, B_SIZE) : 0
  const mask = load<u32>(MASK + (row << 2))
  const size = begins && (mask & Event.HAS_SIZE) != 0 ? load<u64>(SIZE + (row << 3)) : 0
  if (size > Settings.ROOM || Settings.used - freed - replaced + size > Settings.ROOM) return TOO_LARGE
  if ((effect & UNKNOWN) != 0) unknowns++
  if (!begins && !ends) return 0
  if (ends) lose(freed, freed)
  if ((effect & REUSED) != 0) {
    lose(replaced, replaced)
    freedBefore++
  }
  if (begins && !ends) alignmentOf(row, mask)
  Settings.addUsed(size - freed - replaced)
  if (begins) {
    store<u64>(block, size, B_SIZE)
    gain(size, size)
    countSize(size, size)
  }
  noteChange(events + <f64>row + 1)
  return 0
}
