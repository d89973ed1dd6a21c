/**
 * Repairs after wrong predictions. First a repair checks whether the heap is as assumed but at another address, or
 * whether the thread uses another arena; if so, it repeats the call. Otherwise it cuts the block out of the chunk or
 * area that contains its address.
 */
import * as Arenas from './arenas'
import { retire } from './calls'
import { BEFORE, isLive, link, MAPPED, records, stateOf } from './chunks'
import { needMap } from './chunk-map'
import { cutOut, giveBack } from './cut'
import { disproveGaps, seeHeap, seeMapping, unmapBytes } from './gaps'
import { isLost, mark, set32, set64, undo, undoAll } from './log'
import { isPlaced, leadOf, lengthOf as mappingLength, mayBeMapping } from './mappings'
import { baseOf, blockAt, fenceOf, fits, MAIN, offsetOf, ownerOf, regionAt, regionOf, setBase } from './regions'
import { arenaHead, changeHeapHead, header, heapRoom, PAGE } from './rules'
import { call, caller, close, guess, isOpen, resized } from './simulator'
import { OWN_ARENA, threadAt } from './threads'

/** The maximum number of chunks to examine when checking whether a heap is new. */
const NEIGHBOURS: u32 = 64
/** With more arenas, some have blocks. */
const MOST_UNSEEN: u32 = 64
/** The maximum offset of the first block in a new arena's heap. */
const FIRST_BLOCKS: u64 = 4096

/**
 * The call predicted by `allocate` returned another address.
 * @returns the chunk of the block; 0 if there is no room for another one, or the call has been settled already
 */
export function settle(actual: u64): u32 {
  if (!isOpen) return 0
  close()
  if (guess != 0 && (anchor(guess, actual) || moveHeap(guess, actual))) return guess
  const thread = threadAt(caller)
  if (isLost || thread == 0) {
    if (guess != 0) giveBack(guess)
    return cutOut(0, actual, 0)
  }
  const wrong = guess == 0 ? 0 : blockAt(guess)
  undoAll()
  if (resized == 0) {
    const chunk = inOtherArena(thread, actual)
    if (chunk != 0) return chunk
  }
  needMap()
  return cutOut(thread, actual, wrong)
}

/**
 * Sets the address of a heap or mapping that was unknown or assumed.
 * @returns whether it can be there
 */
function anchor(chunk: u32, actual: u64): bool {
  const place = actual - header
  const region = regionOf(chunk)
  if (stateOf(chunk) == MAPPED) {
    if (!mayBeMapping(chunk, place) || regionAt(place, Arenas.topOf(Arenas.MAIN_ARENA)) != 0) return false
    const lead = leadOf(chunk)
    const length = mappingLength(chunk)
    if (isPlaced(chunk)) {
      unmapBytes(blockAt(chunk) - header - lead, length)
      disproveGaps(place - lead, length)
    }
    seeMapping(place - lead, length)
    set64(records + chunk, place)
    return true
  }
  if (baseOf(region) != 0 || place < offsetOf(chunk)) return false
  const base = place - offsetOf(chunk)
  if (!fits(region, base) || (region == MAIN && regionAt(place, 0) != 0)) return false
  setBase(region, base)
  if (region != MAIN) seeHeap(base)
  return true
}

/** Moves a new heap of an arena whose address was assumed. */
function moveHeap(chunk: u32, actual: u64): bool {
  const region = regionOf(chunk)
  if (stateOf(chunk) == MAPPED || region == MAIN) return false
  const base = actual - header - offsetOf(chunk)
  if (fenceOf(region) != 0 || offsetOf(chunk) > arenaHead + 2 * PAGE || hasBlocks(link(chunk, BEFORE))) return false
  if (!fits(region, base) && !evict(region, base)) return false
  unmapBytes(baseOf(region), heapRoom)
  disproveGaps(base, 2 * heapRoom)
  setBase(region, base)
  seeHeap(base)
  Arenas.hintAfter(base)
  return true
}

/** Whether a chunk, or one of those before it, has a live block. The first chunk of a heap is the thread's cache. */
function hasBlocks(chunk: u32): bool {
  for (let i: u32 = 0; i < NEIGHBOURS && chunk != 0; i++) {
    const before = link(chunk, BEFORE)
    if (before == 0) return false
    if (isLive(chunk)) return true
    chunk = before
  }
  return chunk != 0
}

/** Resets the address of another heap that was assumed to be here. @returns whether the place is free now */
function evict(region: u32, base: u64): bool {
  const other = regionAt(base, 0)
  if (other == 0 || baseOf(other) != base || fenceOf(other) != 0) return false
  const top = Arenas.topOf(Arenas.arenaAt(ownerOf(other)))
  if (regionOf(top) != other || hasBlocks(top)) return false
  setBase(other, 0)
  return fits(region, base)
}

/**
 * Repeats the call in the arena that contains the address, or in a new one.
 * @returns 0 if that does not give the address
 */
function inOtherArena(thread: usize, actual: u64): u32 {
  const own = <usize>load<u32>(thread, OWN_ARENA)
  const region = regionAt(actual - header, Arenas.topOf(Arenas.MAIN_ARENA))
  const before = mark()
  if (region != 0) {
    const arena = Arenas.arenaAt(ownerOf(region))
    if (arena == own) return 0
    if (own == 0) {
      if (caller != 0) Arenas.limitArenas()
      Arenas.claimArena(arena)
    }
    set32(thread + OWN_ARENA, <u32>arena)
    const chunk = again(actual)
    if (chunk != 0) return chunk
    if (own != 0) undo(before)
    return 0
  }
  let chunk = inNewArena(thread, actual)
  if (chunk != 0) return chunk
  if (Arenas.learnsHeads && !hasArenas() && changeHeapHead()) {
    chunk = inNewArena(thread, actual)
    if (chunk != 0) return chunk
    changeHeapHead()
  }
  if (baseOf(MAIN) == 0 && own != Arenas.MAIN_ARENA) {
    set32(thread + OWN_ARENA, <u32>Arenas.MAIN_ARENA)
    chunk = call()
    if (chunk != 0 && anchor(chunk, actual)) return chunk
    undo(before)
  }
  return 0
}

/** Whether an arena of a thread has blocks, so that the lengths of the data in heaps are known. */
function hasArenas(): bool {
  const count = Arenas.arenaCount()
  if (count > MOST_UNSEEN) return true
  for (let n: u32 = 1; n < count; n++) if (hasBlocks(Arenas.topOf(Arenas.arenaAt(n)))) return true
  return false
}

/** Repeats the call in a new arena. @returns 0, with that undone, if the address is not in the first heap of one */
function inNewArena(thread: usize, actual: u64): u32 {
  const offset = (actual - header) & (heapRoom - 1)
  if (offset < arenaHead || offset >= arenaHead + FIRST_BLOCKS || (actual & (PAGE - 1)) == header) return 0
  const before = mark()
  const own = <usize>load<u32>(thread, OWN_ARENA)
  retire(thread)
  if (
    Arenas.learnsHeads &&
    own > Arenas.MAIN_ARENA &&
    load<u32>(own, Arenas.THREADS) == 0 &&
    !hasBlocks(Arenas.topOf(own))
  )
    Arenas.forgetArena(own)
  const arena = Arenas.newArena(actual - header - offset)
  if (arena != 0) {
    Arenas.raiseLimit()
    Arenas.claimArena(arena)
    set32(thread + OWN_ARENA, <u32>arena)
    const chunk = again(actual)
    if (chunk != 0) return chunk
  }
  undo(before)
  return 0
}

/** Repeats the call. @returns 0, with the call undone, if that does not give the address */
function again(actual: u64): u32 {
  const before = mark()
  const chunk = call()
  if (chunk != 0 && blockAt(chunk) == actual) return chunk
  undo(before)
  return 0
}
